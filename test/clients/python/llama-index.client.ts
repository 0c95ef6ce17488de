/** LlamaIndex with its model for OpenAI-like servers. */
import { pythonClient } from './python-client.ts';

export default pythonClient({
  name: 'LlamaIndex',
  packages: { 'llama-index-llms-openai-like': '0.8.1' },
  script: 'llama_index_checks.py',
  blocks: { chat: /\w+ \w+/ },
});
