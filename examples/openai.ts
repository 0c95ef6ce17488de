/** The OpenAI client: streamed chat, a tool, an image, speech and its transcription. */
import OpenAI, { toFile } from 'openai';

const client = new OpenAI({
  baseURL: process.env.SLUICE_URL ?? 'http://127.0.0.1:8787/v1',
  apiKey: process.env.SLUICE_KEY,
});

const stream = await client.chat.completions.create({
  model: 'sluice/chat',
  messages: [{ role: 'user', content: 'Tell me of a river.' }],
  stream: true,
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');
console.log();

const { choices } = await client.chat.completions.create({
  model: 'sluice/chat',
  messages: [{ role: 'user', content: 'What is the water level at Basel?' }],
  tools: [
    {
      type: 'function',
      function: {
        name: 'water_level',
        parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
      },
    },
  ],
  tool_choice: 'required',
});
console.log('tool call:', JSON.stringify(choices[0]?.message.tool_calls));

const image = await client.images.generate({
  prompt: 'A lock gate at dawn',
  size: '512x512',
  response_format: 'b64_json',
});
console.log('image:', image.data?.[0]?.b64_json?.length, 'characters of base64');

const speech = await client.audio.speech.create({
  model: 'sluice/speech',
  voice: 'ada',
  input: 'The gates are open.',
});
const file = await toFile(Buffer.from(await speech.arrayBuffer()), 'speech.mp3');
const { text } = await client.audio.transcriptions.create({ model: 'sluice/transcribe', file });
console.log('heard:', text);
