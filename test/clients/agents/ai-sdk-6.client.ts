/** The AI SDK, previous version: the last for Node 20. */
import { aiSdkClient } from './ai-sdk-client.ts';

export default aiSdkClient('AI SDK 6', {
  ai: '6.0.319',
  '@ai-sdk/openai': '3.0.139',
  '@ai-sdk/openai-compatible': '2.0.87',
  '@ai-sdk/anthropic': '3.0.137',
  '@openrouter/ai-sdk-provider': '2.9.1',
  zod: '4.6.7',
});
