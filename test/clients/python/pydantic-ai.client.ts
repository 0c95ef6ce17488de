/** pydantic-ai with its OpenAI, Anthropic and OpenRouter models. */
import { pythonClient } from './python-client.ts';

export default pythonClient({
  name: 'pydantic-ai',
  packages: { 'pydantic-ai-slim[openai,anthropic,openrouter]': '2.66.0' },
  script: 'pydantic_ai_checks.py',
  blocks: { openai: /\w+/, anthropic: /\w+/, openrouter: /\w+/ },
});
