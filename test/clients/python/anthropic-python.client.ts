/** The Anthropic SDK for Python. */
import { pythonClient } from './python-client.ts';

export default pythonClient({
  name: 'Anthropic SDK (Python)',
  packages: { anthropic: '2.8.0' },
  script: 'anthropic_checks.py',
  blocks: { messages: /\w+ \w+/ },
});
