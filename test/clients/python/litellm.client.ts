/** LiteLLM as a library, by its OpenAI and Anthropic providers. */
import { pythonClient } from './python-client.ts';

export default pythonClient({
  name: 'LiteLLM',
  // Tools need `mcp`, which the package does not ask for.
  packages: { litellm: '1.106.2', mcp: '2.3.0' },
  script: 'litellm_checks.py',
  blocks: { chat: /\w+ \w+/ },
  // Its table of prices is part of the package; otherwise it is downloaded on import.
  env: { LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
});
