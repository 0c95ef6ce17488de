/** The OpenAI SDK for Python. */
import { pythonClient } from './python-client.ts';

export default pythonClient({
  name: 'OpenAI SDK (Python)',
  packages: { openai: '3.49.0' },
  script: 'openai_checks.py',
  blocks: { chat: /\w+ \w+/, responses: /\w+ \w+/ },
});
