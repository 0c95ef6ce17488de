/** The Anthropic client: a streamed message with thinking. Its base URL has no `/v1`. */
import Anthropic from '@anthropic-ai/sdk';

const url = process.env.SLUICE_URL ?? 'http://127.0.0.1:8787/v1';
const client = new Anthropic({ baseURL: url.replace(/\/v1$/, ''), apiKey: process.env.SLUICE_KEY });

const stream = client.messages.stream({
  model: 'sluice/reasoner',
  max_tokens: 4096,
  thinking: { type: 'enabled', budget_tokens: 1024 },
  messages: [{ role: 'user', content: 'Why is the sea salty?' }],
});
stream.on('text', (text) => process.stdout.write(text));
const { usage, stop_reason } = await stream.finalMessage();
console.log(`\n${usage.output_tokens} tokens, ${stop_reason}`);
