/** The OpenRouter client: chat. */
import { OpenRouter } from '@openrouter/sdk';

const client = new OpenRouter({
  serverURL: process.env.SLUICE_URL ?? 'http://127.0.0.1:8787/v1',
  apiKey: process.env.SLUICE_KEY ?? '',
});

const answer = await client.chat.send({
  chatRequest: { model: 'sluice/chat', messages: [{ role: 'user', content: 'Hello' }], stream: false },
});
if (!('choices' in answer)) throw new Error('a stream was not asked for');
console.log(answer.choices[0]?.message.content);
