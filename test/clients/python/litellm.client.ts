/** LiteLLM as a library, by its OpenAI and Anthropic providers. */
import { pythonClient } from './python-client.ts';

export default pythonClient({
  name: 'LiteLLM',
  packages: { litellm: '1.106.2' },
  script: 'litellm_checks.py',
  blocks: { chat: /\w+ \w+/ },
  // Its table of prices is part of the package; otherwise it is downloaded on import.
  env: { LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
});
