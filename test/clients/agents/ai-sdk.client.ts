/** The AI SDK, current version. */
import { aiSdkClient } from './ai-sdk-client.ts';
import { expectPrinted } from './simulated.ts';

const blocks = ['openai', 'openai-compatible', 'anthropic', 'openrouter'];

export default aiSdkClient(
  'AI SDK 7',
  {
    ai: '7.0.169',
    '@ai-sdk/openai': '4.0.114',
    '@ai-sdk/openai-compatible': '3.0.90',
    '@ai-sdk/anthropic': '4.0.102',
    '@openrouter/ai-sdk-provider': '3.1.0',
    zod: '4.6.7',
  },
  async (site) => {
    for (const name of blocks)
      await site.check(`docs: ${name}`, async () => {
        expectPrinted(await site.runBlock(name), /You asked about tides/);
      });
  },
);
