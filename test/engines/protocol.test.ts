/** Holds the written engine protocol against what the wire sends and what the simulator answers. */
import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import type { TSchema } from 'typebox';
import Value from 'typebox/value';
import type { Model } from '../../schemas/catalog.ts';
import { engineProtocol } from '../../schemas/engine-protocol/document.ts';
import * as requests from '../../schemas/engine-protocol/requests.ts';
import * as responses from '../../schemas/engine-protocol/responses.ts';
import { bodyBytes } from '../../src/engines/http1/outgoing-body.ts';
import type { WireRequest } from '../../src/engines/wire.ts';
import { openAiWire as wire } from '../../src/engines/wires/openai/wire.ts';
import { wavHeader } from '../../src/music/wav.ts';
import type { ImageCall } from '../../src/ports/engines/image.ts';
import type { MusicCall, RenderInput, VideoCall } from '../../src/ports/engines/render.ts';
import type { SpeechCall, SpeechVoice } from '../../src/ports/engines/speech.ts';
import { readForm } from '../../src/simulator/server/read-body.ts';
import { startSimulatorServer } from '../../src/simulator/server/server.ts';
import { eventually } from '../eventually.ts';
import { sampleModel } from '../samples.ts';

const simulator = await startSimulatorServer({ renderScale: 0.01 });
t.teardown(() => simulator.close());

const everything = ['generate_audio', 'seed', 'quality', 'num_inference_steps'];
const modelOf = (capabilities: Model['capabilities'] = {}): Model =>
  sampleModel({
    id: 'm',
    name: 'M',
    engine: 'e',
    served_as: 'served',
    supported_parameters: everything,
    capabilities,
  });

const image: ImageCall = {
  prompt: 'p',
  n: 2,
  width: 64,
  height: 64,
  seed: 2n ** 63n - 1n,
  steps: 4,
  guidanceScale: 1.5,
  negativePrompt: 'no',
  outputFormat: 'webp',
  outputCompression: 50,
  background: 'opaque',
  references: [],
  mask: undefined,
};
const picture = {
  mediaType: 'image/png',
  size: 4,
  bytes: Buffer.from('data'),
  base64: 'ZGF0YQ==',
  width: 1,
  height: 1,
};
const video: VideoCall = {
  type: 'video',
  prompt: 'p',
  seconds: 1,
  width: 64,
  height: 64,
  upscaled: false,
  steps: 5,
  quality: undefined,
  audio: true,
  seed: 1,
  startTimeSeconds: 1.5,
  inputs: [],
};
const input = (use: RenderInput['use'], kind: RenderInput['kind'] = 'image'): RenderInput => ({
  kind,
  use,
  blob: '',
  mediaType: `${kind}/png`,
});
const music: MusicCall = {
  type: 'music',
  prompt: 'p',
  lyrics: 'la',
  seconds: 2,
  n: 2,
  format: 'wav',
  seed: 1,
};
const speech = (voice: SpeechVoice): SpeechCall => ({
  input: 'Hello there',
  voice,
  instructions: 'Calm',
  language: 'de',
  seed: 1,
  temperature: 0.5,
  topP: 0.5,
  topK: 5,
});
const clip = { bytes: Buffer.from('data'), container: 'wav', seconds: 1 };
const voices: readonly SpeechVoice[] = [
  { kind: 'builtin', id: 'ada' },
  { kind: 'design', description: 'Old' },
  { kind: 'clone', clip, transcript: 'Words' },
  { kind: 'clone', clip, transcript: undefined },
];
const tierVideo = {
  tiers: { turbo: { steps: 4, price: 1 } },
  fps: 24,
} as unknown as NonNullable<NonNullable<Model['capabilities']>['video']>;
const frames = [
  [],
  [input('first_frame')],
  [input('first_frame'), input('last_frame')],
  [input('reference'), input('reference', 'video'), input('reference', 'audio')],
];
const recording = Buffer.concat([
  wavHeader({ sampleRate: 8000, channels: 1, dataBytes: 16_000 }),
  Buffer.alloc(16_000),
]);

/** What goes over the wire as a value: of a form its fields, and of its files their field names. */
const sent = async ({ body, contentType }: WireRequest): Promise<unknown> => {
  if (typeof body === 'string') return JSON.parse(body);
  const pieces: Uint8Array[] = [];
  for await (const piece of bodyBytes(body)) pieces.push(piece);
  const bytes = Buffer.concat(pieces);
  if (contentType === undefined) return JSON.parse(bytes.toString('utf8'));
  const { fields, files } = await readForm(bytes, contentType);
  const names = files.map(({ field }) => field);
  const several = (name: string) => name.endsWith('[]') || name.endsWith('references');
  return {
    ...fields,
    ...Object.fromEntries(
      names.map((name) => [name, several(name) ? names.filter((one) => one === name) : name]),
    ),
  };
};

const fits = (t: Test, schema: TSchema, value: unknown, what: string): void => {
  const [error] = Value.Errors(schema, value);
  t.equal(error, undefined, `${what}: ${JSON.stringify(value)}`);
};

t.test('docs/engine-protocol.json is generated from the schemas: npm run protocol', async (t) => {
  const written = readFileSync(new URL('../../docs/engine-protocol.json', import.meta.url), 'utf8');
  t.strictSame(JSON.parse(written), JSON.parse(JSON.stringify(engineProtocol())));
});

t.test('every operation of the protocol is explained', async (t) => {
  const guide = readFileSync(new URL('../../docs/engine-protocol.md', import.meta.url), 'utf8');
  const { paths } = engineProtocol() as { paths: Record<string, Record<string, object>> };
  for (const [path, methods] of Object.entries(paths))
    for (const method of Object.keys(methods))
      t.ok(guide.includes(`\`${method.toUpperCase()} ${path}\``), `${method} ${path}`);
});

t.test('what the wire sends', async (t) => {
  const model = modelOf();
  fits(t, requests.ImageRequest, await sent(wire.images.encode(model, { ...image, seed: 7n })), 'an image');
  for (const references of [[picture], [picture, picture]])
    fits(
      t,
      requests.ImageEditForm,
      await sent(wire.images.encode(model, { ...image, references, mask: picture })),
      'an edit',
    );
  for (const quality of [undefined, 'turbo'])
    for (const inputs of frames) {
      const media = inputs.map(() => 'ZGF0YQ==');
      const call = { ...video, inputs, quality, steps: quality === undefined ? 5 : 4 };
      fits(
        t,
        requests.VideoRequest,
        await sent(wire.renders.encode(modelOf({ video: tierVideo }), call, media)),
        'a video',
      );
      const omni = modelOf({ video: { ...tierVideo, asked_by: 'vllm' } });
      fits(t, requests.VideoForm, await sent(wire.renders.encode(omni, call, media)), 'a form');
    }
  for (const call of [music, { ...music, n: 1, lyrics: undefined }])
    fits(t, requests.MusicRequest, await sent(wire.renders.encode(model, call, [])), 'songs');
  for (const voice of voices) {
    for (const asked_by of ['openai', 'sluice'] as const)
      fits(
        t,
        requests.SpeechRequest,
        await sent(wire.speech.encode(modelOf({ speech: { asked_by } }), speech(voice))),
        asked_by,
      );
    for (const engine_format of ['pcm', 'mp3'] as const) {
      const omni = modelOf({ speech: { asked_by: 'vllm', engine_format } });
      fits(t, requests.OmniSpeechRequest, await sent(wire.speech.encode(omni, speech(voice))), 'vllm');
    }
  }
  const heard = { audio: { ...clip, bytes: recording }, language: 'de', prompt: 'p', temperature: 0 };
  for (const stream of [false, true])
    fits(
      t,
      requests.TranscriptionForm,
      await sent(wire.transcription.encode(model, { ...heard, stream }, stream)),
      'a recording',
    );
  const embedder = modelOf({ embedding: { dimensions: 3, truncate_field: 'truncate_prompt_tokens' } });
  const texts = { inputs: ['one', [1, 2]], encoding: 'float', dimensions: undefined } as const;
  fits(
    t,
    requests.EmbeddingsRequest,
    await sent(wire.embeddings.encode({ ...embedder, context_length: 512 }, texts)),
    'texts',
  );
  const ranked = { query: 'q', documents: ['a', 'b'] };
  fits(t, requests.EngineRerankRequest, await sent(wire.rerank.encode(model, ranked)), 'documents');
  const tei = modelOf({ rerank: { asked_by: 'tei' } });
  fits(t, requests.TeiRerankRequest, await sent(wire.rerank.encode(tei, ranked)), 'documents of TEI');
});

t.test('what the simulator answers', async (t) => {
  const ask = async (method: string, path: string, request?: WireRequest) => {
    const pieces: Uint8Array[] = [];
    if (request !== undefined)
      for await (const piece of typeof request.body === 'string'
        ? [Buffer.from(request.body)]
        : bodyBytes(request.body))
        pieces.push(piece);
    const response = await fetch(`${simulator.url}${path}`, {
      method,
      ...(request === undefined
        ? {}
        : {
            body: Buffer.concat(pieces),
            headers: { 'content-type': request.contentType ?? 'application/json' },
          }),
    });
    return { status: response.status, text: await response.text() };
  };
  const post = (request: WireRequest) => ask('POST', request.path, request);
  const whole = async (schema: TSchema, request: WireRequest) => {
    const { status, text } = await post(request);
    t.equal(status, 200, text.slice(0, 200));
    const value = JSON.parse(text) as { id?: string };
    fits(t, schema, value, request.path);
    return value;
  };
  const model = modelOf();
  await whole(responses.ImagesResponse, wire.images.encode(model, { ...image, background: 'auto' }));
  for (const call of [video, music]) {
    const created = await whole(responses.EngineJobRecord, wire.renders.encode(model, call, []));
    const path = wire.renders.jobPath(call, created.id ?? '');
    await eventually(async () => {
      const { text } = await ask('GET', path);
      fits(t, responses.EngineJobRecord, JSON.parse(text), path);
      return (JSON.parse(text) as { status: string }).status === 'completed';
    }, 'the end of the render');
    t.equal((await ask('DELETE', path)).status, 200);
  }
  const heard = {
    audio: { ...clip, bytes: recording },
    language: 'en',
    prompt: undefined,
    temperature: undefined,
  };
  await whole(responses.Transcript, wire.transcription.encode(model, { ...heard, stream: false }, false));
  const { text } = await post(wire.transcription.encode(model, { ...heard, stream: true }, true));
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as unknown);
  t.ok(events.length > 1);
  for (const event of events) fits(t, responses.TranscriptEvent, event, 'an event');
  for (const encoding of ['float', 'base64'] as const) {
    const texts = { inputs: ['one', 'two'], encoding, dimensions: undefined };
    await whole(responses.EmbeddingsResponse, wire.embeddings.encode(model, texts));
  }
  await whole(
    responses.EngineRerankResponse,
    wire.rerank.encode(model, { query: 'q', documents: ['a', 'b'] }),
  );
  const refused = await ask('POST', '/videos', { path: '', body: '{}' });
  t.equal(refused.status, 400);
  fits(t, responses.EngineFailure, JSON.parse(refused.text), 'a failure');
});
