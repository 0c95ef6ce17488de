/** One known good request of each kind, which the fuzzer mutates. */
import type { JsonObject } from './document.ts';

export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAMAAABEpIrGAAAAA1BMVEXQQCDh5GcnAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAE0lEQVQ4jWNgGAWjYBSMAgasAAAEIAABMVaGxQAAAABJRU5ErkJggg==',
  'base64',
);

/** A quarter of a second of silence: 8 kHz, 16 bits, mono. */
export const wav = ((): Buffer => {
  const data = Buffer.alloc(4000);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + data.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8000, 24);
  head.writeUInt32LE(16_000, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(data.length, 40);
  return Buffer.concat([head, data]);
})();

export const pngUri = `data:image/png;base64,${png.toString('base64')}`;

const chat = { model: 'sluice/chat', messages: [{ role: 'user', content: '/sim tokens=6\nHello' }] };
const picture = { prompt: 'A lock on a canal', model: 'sluice/image', size: '512x512' };
const store = { name: 'fuzz' };

/** By operation id. A job that is never rendered costs nothing: most of these wait. */
export const bodySamples: Readonly<Record<string, JsonObject>> = {
  postChatCompletions: chat,
  postCompletions: { model: 'sluice/chat', prompt: '/sim tokens=6\nHello' },
  postChatCompletionsRAG: { ...chat, collection: '{store}' },
  postMessages: { ...chat, max_tokens: 20 },
  postMessagesCountTokens: chat,
  postResponses: { model: 'sluice/chat', input: '/sim tokens=6\nHello' },
  postEmbeddings: { model: 'sluice/embed', input: ['one', 'two'] },
  postRerank: {
    model: 'sluice/rerank',
    query: 'water',
    documents: ['The lock is full.', { text: 'A gate.' }],
  },
  postTokenize: { model: 'sluice/chat', prompt: 'The lock is full.' },
  postDetokenize: { model: 'sluice/chat', tokens: [791, 5409, 374, 2539] },
  postImages: { ...picture, response_format: 'url' },
  postImagesGenerations: picture,
  postImagesEdits: { ...picture, model: 'sluice/image-edit', images: [{ image_url: pngUri }] },
  postSystemone: {
    model: 'sluice/decide',
    state: 'The lock is full.',
    questions: { open: { type: 'noul', instructions: 'Is the lock full?' } },
  },
  postVideos: { model: 'sluice/video', prompt: '/sim render=10m\nA lock', duration: 4 },
  postMusic: { model: 'sluice/music', prompt: '/sim render=100ms\nWater', duration: 5 },
  postAudioSpeech: { model: 'sluice/speech', input: 'Hi.', voice: 'ada', response_format: 'wav' },
  postAudioTranscriptions: {
    model: 'sluice/transcribe',
    input_audio: { data: wav.toString('base64'), format: 'wav' },
  },
  postVectorStore: store,
  postVectorStores: store,
  postVectorStoreByIdSearch: { input: 'water' },
  postVectorStoresByIdSearch: { query: 'water' },
  patchVectorStoreByIdItemsByItemid: { description: 'Of water.' },
};

/** Fields of forms, beside their files. */
export const formSamples: Readonly<Record<string, JsonObject>> = {
  postImages: picture,
  postImagesGenerations: picture,
  postImagesEdits: { ...picture, model: 'sluice/image-edit' },
  postVideos: { model: 'sluice/video', prompt: '/sim render=10m\nA lock', seconds: '4' },
  postAudioTranscriptions: { model: 'sluice/transcribe' },
};

export const fileSamples: readonly {
  readonly type: string;
  readonly name: string;
  readonly bytes: Buffer;
}[] = [
  { type: 'image/png', name: 'lock.png', bytes: png },
  { type: 'audio/wav', name: 'lock.wav', bytes: wav },
  {
    type: 'text/plain',
    name: 'lock.txt',
    bytes: Buffer.from('The water rises in the lock.\n\nThe gate opens.'),
  },
  { type: 'text/html', name: 'lock.html', bytes: Buffer.from('<p>The water rises.</p>') },
];
