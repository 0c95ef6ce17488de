/** The AI SDK with its OpenAI-compatible provider: streamed text. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText } from 'ai';

const sluice = createOpenAICompatible({
  name: 'sluice',
  baseURL: process.env.SLUICE_URL ?? 'http://127.0.0.1:8787/v1',
  apiKey: process.env.SLUICE_KEY ?? '',
  includeUsage: true,
});

const { textStream, usage } = streamText({ model: sluice('sluice/chat'), prompt: 'Tell me of a river.' });
for await (const text of textStream) process.stdout.write(text);
console.log(`\n${(await usage).outputTokens} tokens`);
