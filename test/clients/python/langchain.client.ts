/** LangChain with its OpenAI and Anthropic integrations. */
import { pythonClient } from './python-client.ts';

export default pythonClient({
  name: 'LangChain',
  packages: {
    langchain: '1.4.7',
    'langchain-core': '1.7.2',
    'langchain-openai': '1.7.3',
    'langchain-anthropic': '1.7.7',
  },
  script: 'langchain_checks.py',
  blocks: { openai: /\w+ \w+/, anthropic: /\w+ \w+/ },
  env: { LANGSMITH_TRACING: 'false' },
});
