/** Tests that invalid video requests get the whole error envelope and leave nothing behind. */
import t from 'tap';
import { namedField } from '../envelope.ts';
import { startGateway } from '../gateway.ts';
import { heic } from '../images/heic.ts';
import { someOf } from '../long.ts';
import { clip, dataUri, mp3, picture, wav } from './media-samples.ts';

const gateway = await startGateway({
  catalog: `
models:
  sluice/video:
    kind: video
    engine: simulator
    pricing: { completion: '0.04' }
    per_request_limits: { max_prompt_length: 7000 }
    capabilities: { video: &spec {
      duration: { min: 4, max: 15, default: 6 },
      resolutions: {
        768p: { sizes: { '16:9': 1344x768, '9:16': 768x1344, '4:3': 1024x768, '3:4': 768x1024, '1:1': 768x768, '21:9': 1536x672 } },
        2K: { sizes: { '16:9': 2688x1536, '9:16': 1536x2688, '4:3': 2048x1536, '3:4': 1536x2048, '1:1': 1536x1536, '21:9': 3072x1344 }, enlarged: true, price: 4, time: 3 } },
      fps: 24, frame_step: 15,
      tiers: { turbo: { steps: 4, reference_steps: 8, price: 1 }, standard: { steps: 20, price: 3 }, max: { steps: 40, price: 5 } },
      steps: { min: 4, max: 50, base: 10, per_price: 6 },
      frame_images: [first_frame, last_frame],
      references: { images: 9, videos: 3, audio: 3, total: 12 },
      render_time: { plain: 3, references: 5 } } }
  sluice/text-only: { kind: video, engine: simulator, supported_parameters: [duration], capabilities: { video: *spec } }
  sluice/first-only: { kind: video, engine: simulator, capabilities: { video: { <<: *spec, frame_images: [first_frame] } } }
  sluice/bare: { kind: video, engine: simulator }
  sluice/broken: { kind: video, engine: simulator, capabilities: { video: { <<: *spec, duration: { min: 9, max: 5, default: 7 } } } }
  sluice/chat: { engine: simulator, context_length: 4096 }
`,
});
t.teardown(() => gateway.stop());

const { blobs } = gateway.ports;
const kept: string[] = [];
const put = blobs.put.bind(blobs);
blobs.put = (name, bytes, options) => {
  kept.push(name);
  return put(name, bytes, options);
};

const authorization = `Bearer ${gateway.key}`;
const good = { model: 'sluice/video', prompt: '/sim render=0s' };

const send = async (body: string | FormData, headers: Record<string, string> = {}) => {
  const response = await fetch(`${gateway.url}/videos`, {
    method: 'POST',
    headers: { authorization, ...headers },
    body,
  });
  return { status: response.status, body: await response.json() };
};
const post = (body: unknown) =>
  send(typeof body === 'string' ? body : JSON.stringify(body), { 'content-type': 'application/json' });

type Kind =
  | 'invalid_request'
  | 'unsupported_parameter'
  | 'payload_too_large'
  | 'not_found'
  | 'provider_overloaded';
const statuses: Record<Kind, [number, string]> = {
  invalid_request: [400, 'validation_error'],
  unsupported_parameter: [400, 'validation_error'],
  payload_too_large: [413, 'invalid_request_error'],
  not_found: [404, 'not_found_error'],
  provider_overloaded: [503, 'server_error'],
};
const refused = (message: string, kind: Kind = 'invalid_request') => {
  const [code, type] = statuses[kind];
  return {
    status: code,
    body: {
      error: { code, message, type, param: namedField(code, message), metadata: { error_type: kind } },
    },
  };
};

const image = (url: unknown) => ({ type: 'image_url', image_url: { url } });
const frame = (url: unknown, frame_type = 'first_frame') => ({ ...image(url), frame_type });
const png = dataUri(await picture('png'));
const shortClip = dataUri(await clip(1));
const longClip = dataUri(await clip(17));
const goodClip = dataUri(await clip(3));
const matroska = dataUri(await clip(3, 'matroska'));
const video = (url: unknown) => ({ type: 'video_url', video_url: { url } });
const audio = (url: unknown) => ({ type: 'audio_url', audio_url: { url } });
const many = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);
const publicHost = 'must be an https URL on a public host';
const qualities = '"turbo", "standard", "max", "auto", "low", "medium", "high"';
const sizes =
  '1344x768, 768x1344, 1024x768, 768x1024, 768x768, 1536x672, 2688x1536, 1536x2688, 2048x1536, 1536x2048, 1536x1536, 3072x1344';

const rows: [string, object, string, Kind?][] = [
  // ── the fields every request has
  ['no model', { model: undefined }, 'model is required'],
  ['model of a wrong type', { model: 7 }, 'model must be a string'],
  ['unknown model', { model: 'acme/none' }, 'No model named "acme/none"', 'not_found'],
  [
    'model of another kind',
    { model: 'sluice/chat' },
    '"sluice/chat" is of kind chat; this route takes models of kind video',
    'not_found',
  ],
  [
    'no spec',
    { model: 'sluice/bare' },
    'The model sluice/bare is not served: it has no valid capability spec',
    'provider_overloaded',
  ],
  [
    'spec that contradicts itself',
    { model: 'sluice/broken' },
    'The model sluice/broken is not served: it has no valid capability spec',
    'provider_overloaded',
  ],
  ['no prompt', { prompt: undefined }, 'prompt is required'],
  ['null prompt', { prompt: null }, 'prompt must be a string'],
  ['prompt of a wrong type', { prompt: ['a'] }, 'prompt must be a string'],
  ['prompt too long', { prompt: 'é'.repeat(7001) }, 'prompt must have at most 7000 characters'],
  [
    'prompt too long in characters',
    { prompt: '🌊'.repeat(7001) },
    'prompt must have at most 7000 characters',
  ],
  // ── length
  ['duration below', { duration: 3 }, 'duration must be between 4 and 15'],
  ['duration above', { duration: 16 }, 'duration must be between 4 and 15'],
  ['duration with a fraction', { duration: 6.5 }, 'duration must be an integer'],
  ['duration as a fraction in text', { duration: '6.5' }, 'duration must be an integer'],
  ['duration in words', { duration: 'six' }, 'duration must be an integer'],
  ['duration as empty text', { duration: '' }, 'duration must be an integer'],
  ['duration with a blank', { duration: ' 6' }, 'duration must be an integer'],
  ['duration as a truth value', { duration: true }, 'duration must be an integer'],
  ['duration as a list', { duration: [6] }, 'duration must be an integer'],
  ['duration as text, too long', { duration: '16' }, 'duration must be between 4 and 15'],
  ['duration beyond all numbers', { duration: 1e300 }, 'duration must be an integer'],
  ['seconds below', { seconds: 3 }, 'seconds must be between 4 and 15'],
  ['seconds as text, above', { seconds: '99' }, 'seconds must be between 4 and 15'],
  ['seconds of a wrong type', { seconds: {} }, 'seconds must be an integer'],
  ['duration wins, even when it is wrong', { duration: 3, seconds: 6 }, 'duration must be between 4 and 15'],
  ['seconds is typed beside duration', { duration: 6, seconds: 'x' }, 'seconds must be an integer'],
  // ── picture
  ['resolution of no model', { resolution: '4K' }, 'resolution must be one of "768p", "2K"'],
  ['resolution in another case', { resolution: '2k' }, 'resolution must be one of "768p", "2K"'],
  ['resolution of a wrong type', { resolution: 768 }, 'resolution must be a string'],
  [
    'ratio of no model',
    { aspect_ratio: '3:2' },
    'aspect_ratio must be one of "16:9", "9:16", "4:3", "3:4", "1:1", "21:9"',
  ],
  ['ratio of a wrong type', { aspect_ratio: 1.77 }, 'aspect_ratio must be a string'],
  ['size of no table', { size: '1280x720' }, `size must be one of ${sizes}`],
  ['size with another sign', { size: '1344×768' }, `size must be one of ${sizes}`],
  ['size of a wrong type', { size: [1344, 768] }, 'size must be a string'],
  [
    'size against the ratio',
    { size: '1344x768', aspect_ratio: '9:16' },
    'size 1344x768 has aspect_ratio 16:9 and does not agree with 9:16',
  ],
  [
    'size against the resolution',
    { size: '1344x768', resolution: '2K' },
    'size 1344x768 has resolution 768p and does not agree with 2K',
  ],
  [
    'a 2K size against 768p',
    { size: '2688x1536', resolution: '768p' },
    'size 2688x1536 has resolution 2K and does not agree with 768p',
  ],
  // ── schedule
  ['quality of no model', { quality: 'ultra' }, `quality must be one of ${qualities}`],
  ['quality of a wrong type', { quality: 3 }, 'quality must be a string'],
  ['steps below', { num_inference_steps: 3 }, 'num_inference_steps must be between 4 and 50'],
  ['steps above', { num_inference_steps: 51 }, 'num_inference_steps must be between 4 and 50'],
  ['steps with a fraction', { num_inference_steps: 20.5 }, 'num_inference_steps must be an integer'],
  [
    'steps beside another tier',
    { quality: 'standard', num_inference_steps: 40 },
    'num_inference_steps must be 20 with quality standard, or be left out',
  ],
  [
    'steps beside turbo',
    { quality: 'low', num_inference_steps: 5 },
    'num_inference_steps must be 4 with quality low, or be left out',
  ],
  [
    '2K standard',
    { resolution: '2K', quality: 'standard' },
    'quality must be turbo at resolution 2K: it renders on the turbo schedule only',
  ],
  [
    'a 2K size at max',
    { size: '1536x1536', quality: 'high' },
    'quality must be turbo at resolution 2K: it renders on the turbo schedule only',
  ],
  [
    '2K in base steps',
    { resolution: '2K', num_inference_steps: '20' },
    'num_inference_steps must be below 10 at resolution 2K: it renders on the turbo schedule only',
  ],
  // ── sound, seed, start
  ['generate_audio as text', { generate_audio: 'true' }, 'generate_audio must be true or false'],
  ['generate_audio as a number', { generate_audio: 1 }, 'generate_audio must be true or false'],
  ['seed with a fraction', { seed: 1.5 }, 'seed must be an integer'],
  ['seed in words', { seed: 'lucky' }, 'seed must be an integer'],
  [
    'seed beyond 64 bits',
    { seed: 2 ** 64 },
    'seed must be between -9223372036854775808 and 9223372036854775807',
  ],
  ['seed of too many digits', { seed: '1'.repeat(20) }, 'seed must be an integer'],
  ['start below zero', { start_time_seconds: -1 }, 'start_time_seconds must be a number of at least 0'],
  [
    'start as a fraction in text',
    { start_time_seconds: '1.5' },
    'start_time_seconds must be a number of at least 0',
  ],
  [
    'start of a wrong type',
    { start_time_seconds: false },
    'start_time_seconds must be a number of at least 0',
  ],
  // ── callback
  ['callback of a wrong type', { callback_url: 7 }, 'callback_url must be a string'],
  ['callback that is no address', { callback_url: 'example.com/hook' }, `callback_url ${publicHost}`],
  ['callback over http', { callback_url: 'http://example.com/hook' }, `callback_url ${publicHost}`],
  ['callback on this machine', { callback_url: 'https://127.0.0.1/hook' }, `callback_url ${publicHost}`],
  [
    'callback on this machine by name',
    { callback_url: 'https://a.localhost/hook' },
    `callback_url ${publicHost}`,
  ],
  ['callback in a private network', { callback_url: 'https://10.1.2.3/hook' }, `callback_url ${publicHost}`],
  ['callback with an odd address', { callback_url: 'https://0x7f.1/hook' }, `callback_url ${publicHost}`],
  [
    'callback at the metadata of a cloud',
    { callback_url: 'https://169.254.169.254/' },
    `callback_url ${publicHost}`,
  ],
  ['callback in IPv6', { callback_url: 'https://[::1]/hook' }, `callback_url ${publicHost}`],
  [
    'callback with a password',
    { callback_url: 'https://a:b@example.com/' },
    'callback_url must not hold a user name or password',
  ],
  // ── unknown fields
  [
    'an unknown field',
    { negative_prompt: 'rain' },
    'negative_prompt is not taken by model sluice/video',
    'unsupported_parameter',
  ],
  ['several videos', { n: 2 }, 'n is not taken by model sluice/video', 'unsupported_parameter'],
  [
    'a field with a strange name',
    { 'a b': 1 },
    '["a b"] is not taken by model sluice/video',
    'unsupported_parameter',
  ],
  [
    'a field this model does not take',
    { model: 'sluice/text-only', seed: 1 },
    'seed is not taken by model sluice/text-only',
    'unsupported_parameter',
  ],
  [
    'frames on a model without',
    { model: 'sluice/text-only', frame_images: [frame(png)] },
    'frame_images is not taken by model sluice/text-only',
    'unsupported_parameter',
  ],
  [
    'a first frame on a model without',
    { model: 'sluice/text-only', input_reference: png },
    'input_reference is not taken by model sluice/text-only',
    'unsupported_parameter',
  ],
  // ── provider
  ['provider of a wrong type', { provider: 'acme' }, 'provider must be an object'],
  ['options of a wrong type', { provider: { options: [] } }, 'provider.options must be an object'],
  [
    'an option nobody declared',
    { provider: { options: { fps: 30 } } },
    'provider.options.fps is not an option of this model',
    'unsupported_parameter',
  ],
  [
    'an option for another provider',
    { provider: { options: { acme: { quality: 'max' } } } },
    'provider.options.acme is not an option of this model',
    'unsupported_parameter',
  ],
  [
    'an option nobody declared, under our name',
    { provider: { options: { sluice: { fps: 30 } } } },
    'provider.options.sluice.fps is not an option of this model',
    'unsupported_parameter',
  ],
  [
    'an option nobody declared, deeper',
    { provider: { options: { sluice: { parameters: { fps: 30 } } } } },
    'provider.options.sluice.parameters.fps is not an option of this model',
    'unsupported_parameter',
  ],
  [
    'an option this model does not take',
    { model: 'sluice/text-only', provider: { options: { quality: 'max' } } },
    'provider.options.quality is not an option of this model',
    'unsupported_parameter',
  ],
  [
    'an option of a wrong type',
    { provider: { options: { quality: 5 } } },
    'provider.options.quality must be a string',
  ],
  [
    'an option out of range',
    { provider: { options: { num_inference_steps: 51 } } },
    'provider.options.num_inference_steps must be between 4 and 50',
  ],
  [
    'options that contradict',
    { provider: { options: { quality: 'max', num_inference_steps: 39 } } },
    'provider.options.num_inference_steps must be 40 with provider.options.quality max, or be left out',
  ],
  // ── frames
  ['frames of a wrong type', { frame_images: {} }, 'frame_images must be an array'],
  ['three frames', { frame_images: many(3, frame(png)) }, 'frame_images must have at most 2 items'],
  [
    'a frame of another type',
    { frame_images: [{ ...frame(png), type: 'image' }] },
    'frame_images[0].type must be "image_url"',
  ],
  ['a frame without its place', { frame_images: [image(png)] }, 'frame_images[0].frame_type is required'],
  [
    'a frame of no place',
    { frame_images: [frame(png, 'middle')] },
    'frame_images[0].frame_type must be one of "first_frame", "last_frame"',
  ],
  [
    'two first frames',
    { frame_images: [frame(png), frame(png)] },
    'frame_images[1].frame_type first_frame is given more than once',
  ],
  [
    'a last frame on a model without',
    { model: 'sluice/first-only', frame_images: [frame(png, 'last_frame')] },
    'frame_images[0].frame_type last_frame is not taken by this model',
    'unsupported_parameter',
  ],
  [
    'a frame without an address',
    { frame_images: [{ type: 'image_url', image_url: {}, frame_type: 'first_frame' }] },
    'frame_images[0].image_url.url is required',
  ],
  [
    'an address of a wrong type',
    { frame_images: [frame(7)] },
    'frame_images[0].image_url.url must be a string',
  ],
  [
    'a frame over http',
    { frame_images: [frame('http://example.com/a.png')] },
    `frame_images[0].image_url.url ${publicHost}`,
  ],
  [
    'a frame on this machine',
    { frame_images: [frame('https://127.0.0.1/a.png')] },
    `frame_images[0].image_url.url ${publicHost}`,
  ],
  [
    'a frame that is no base64',
    { frame_images: [frame('data:image/png;base64,????')] },
    'frame_images[0].image_url.url is not valid base64',
  ],
  [
    'an empty frame',
    { frame_images: [frame('data:image/png;base64,')] },
    'frame_images[0].image_url.url is empty',
  ],
  [
    'a frame of another format',
    { frame_images: [frame(dataUri(await picture('gif')))] },
    'frame_images[0].image_url.url must be a JPG, PNG, WEBP, HEIC or HEIF image, not image/gif',
  ],
  [
    'a frame that says it is a picture',
    { frame_images: [frame(dataUri(wav(2), 'image/png'))] },
    'frame_images[0].image_url.url must be a JPG, PNG, WEBP, HEIC or HEIF image, not audio/wav',
  ],
  // ── the first frame by its other name
  [
    'a first frame of a wrong type',
    { input_reference: 7 },
    'input_reference must be a URL, a data URI or an object with image_url',
  ],
  [
    'a first frame as a list',
    { input_reference: [png] },
    'input_reference must be a URL, a data URI or an object with image_url',
  ],
  [
    'a first frame without an address',
    { input_reference: {} },
    'input_reference must be a URL, a data URI or an object with image_url',
  ],
  [
    'a first frame by file id',
    { input_reference: { image_url: png, file_id: 'file-1' } },
    'input_reference.file_id is not supported',
    'unsupported_parameter',
  ],
  [
    'a first frame with an object inside',
    { input_reference: { image_url: { url: png } } },
    'input_reference.image_url must be a string',
  ],
  [
    'a wrong type beside frames',
    { input_reference: 7, frame_images: [frame(png)] },
    'input_reference must be a URL, a data URI or an object with image_url',
  ],
  [
    'a first frame that is sound',
    { input_reference: dataUri(wav(2)) },
    'input_reference must be a JPG, PNG, WEBP, HEIC or HEIF image, not audio/wav',
  ],
  // ── references
  [
    'a reference of another type',
    { input_references: [{ type: 'file', file: {} }] },
    'input_references[0].type must be one of "image_url", "video_url", "audio_url"',
  ],
  [
    'a reference without its object',
    { input_references: [{ type: 'video_url', image_url: { url: png } }] },
    'input_references[0].video_url is required',
  ],
  [
    'a reserved role',
    { input_references: [{ ...image(png), role: 'driving' }] },
    'input_references[0].role driving is not supported by this model',
    'unsupported_parameter',
  ],
  [
    'the other reserved role',
    { input_references: [{ ...image(png), role: 'control' }] },
    'input_references[0].role control is not supported by this model',
    'unsupported_parameter',
  ],
  [
    'no role at all',
    { input_references: [{ ...image(png), role: 'hero' }] },
    'input_references[0].role must be one of "reference", "driving", "control"',
  ],
  ['ten images', { input_references: many(10, image(png)) }, 'input_references must have at most 9 images'],
  [
    'four videos',
    { input_references: many(4, video(goodClip)) },
    'input_references must have at most 3 videos',
  ],
  [
    'four sounds',
    { input_references: many(4, audio('https://example.com/a.wav')) },
    'input_references must have at most 3 audio clips',
  ],
  [
    'thirteen in all',
    { input_references: [...many(9, image(png)), ...many(3, video(goodClip)), audio('x')] },
    'input_references must have at most 12 items',
  ],
  [
    'a clip of one second',
    { input_references: [video(shortClip)] },
    'input_references[0].video_url.url must be 2 to 15 seconds long, not 1.0',
  ],
  [
    'a clip of seventeen seconds',
    { input_references: [image(png), video(longClip)] },
    'input_references[1].video_url.url must be 2 to 15 seconds long, not 17.0',
  ],
  [
    'a clip of another format',
    { input_references: [video(matroska)] },
    'input_references[0].video_url.url must be an MP4 or MOV video, not video/x-matroska',
  ],
  [
    'a start behind the end of a clip',
    { input_references: [video(goodClip)], start_time_seconds: 3 },
    'start_time_seconds must be before the end of input_references[0].video_url.url',
  ],
  [
    'a sound of one second',
    { input_references: [audio(dataUri(wav(1)))] },
    'input_references[0].audio_url.url must be 2 to 15 seconds long, not 1.0',
  ],
  [
    'a sound of twenty seconds',
    { input_references: [audio(dataUri(await mp3(20)))] },
    'input_references[0].audio_url.url must be 2 to 15 seconds long, not 20.2',
  ],
  [
    'a sound that is a picture',
    { input_references: [audio(png)] },
    'input_references[0].audio_url.url must be a WAV or MP3 clip, not image/png',
  ],
  [
    'a sound over its size',
    { input_references: [audio(dataUri(Buffer.alloc(15 * 1024 * 1024 + 1)))] },
    'input_references[0].audio_url.url is larger than the limit of 15728640 bytes',
    'payload_too_large',
  ],
];

t.test('JSON bodies', async (t) => {
  t.ok(rows.length >= 80);
  for (const [name, change, message, kind] of someOf(rows, 40))
    t.same(await post({ ...good, ...change }), refused(message, kind), name);
});

t.test('bodies that are not requests', async (t) => {
  for (const [name, body, message] of [
    ['nothing', '', 'The request body is empty; a JSON object is expected'],
    ['a list', '[]', 'The request body must be a JSON object, not an array'],
  ] as const)
    t.same(await post(body), refused(message), name);
  t.same(
    await send('model=sluice/video', { 'content-type': 'application/x-www-form-urlencoded' }),
    refused('content-type must be application/json, not "application/x-www-form-urlencoded"'),
  );
});

const form = (fields: Record<string, string | Blob>): FormData => {
  const data = new FormData();
  for (const [name, value] of Object.entries({ ...good, ...fields })) data.append(name, value);
  return data;
};
const blob = (bytes: Buffer, type = 'image/png') => new File([new Uint8Array(bytes)], 'a.png', { type });

t.test('forms', async (t) => {
  const formRows: [string, Record<string, string | Blob>, string, Kind?][] = [
    ['seconds in words', { seconds: 'six' }, 'seconds must be an integer'],
    ['seconds above', { seconds: '16' }, 'seconds must be between 4 and 15'],
    ['size of no table', { size: '1x1' }, `size must be one of ${sizes}`],
    ['generate_audio in capitals', { generate_audio: 'True' }, 'generate_audio must be true or false'],
    ['generate_audio as a digit', { generate_audio: '1' }, 'generate_audio must be true or false'],
    ['start in words', { start_time_seconds: 'now' }, 'start_time_seconds must be a number of at least 0'],
    [
      'a file that is no picture',
      { input_reference: blob(wav(2)) },
      'input_reference must be a JPG, PNG, WEBP, HEIC or HEIF image, not audio/wav',
    ],
    ['an empty file', { input_reference: blob(Buffer.alloc(0)) }, 'input_reference is empty'],
    [
      'a file over its size',
      { input_reference: blob(Buffer.alloc(30 * 1024 * 1024 + 1)) },
      'input_reference is larger than the limit of 31457280 bytes',
      'payload_too_large',
    ],
    ['a file elsewhere', { video: blob(wav(2)) }, 'video does not take a file', 'unsupported_parameter'],
    ['an address that is none', { input_reference: 'nowhere' }, `input_reference ${publicHost}`],
    [
      'an address in an object that is none',
      { 'input_reference[image_url]': 'nowhere' },
      `input_reference.image_url ${publicHost}`,
    ],
    [
      'both forms',
      { 'input_reference[image_url]': png, input_reference: png },
      'input_reference is given more than once',
    ],
    ['a name that is none', { 'frame_images[]': png }, 'frame_images[] is not the name of a field'],
    ['frames that are no JSON', { frame_images: '[{' }, 'frame_images must be JSON in a form'],
    ['an unknown field', { remix: 'x' }, 'remix is not taken by model sluice/video', 'unsupported_parameter'],
    [
      'an option nobody declared',
      { 'provider[options][fps]': '30' },
      'provider.options.fps is not an option of this model',
      'unsupported_parameter',
    ],
    ['callback in a private network', { callback_url: 'https://192.168.0.1/' }, `callback_url ${publicHost}`],
  ];
  for (const [name, fields, message, kind] of formRows)
    t.same(await send(form(fields)), refused(message, kind), name);
  const data = new FormData();
  data.append('model', 'sluice/video');
  t.same(await send(data), refused('prompt is required'), 'no prompt');
});

t.test('the other routes', async (t) => {
  const read = async (path: string, method = 'GET') => {
    const response = await fetch(`${gateway.url}${path}`, { method, headers: { authorization } });
    return { status: response.status, body: await response.json() };
  };
  const id = 'video_0123456789abcdef01234567';
  for (const [path, method] of [
    ['/videos/video_1', 'GET'],
    [`/videos/${id.toUpperCase()}`, 'GET'],
    ['/videos/music_0123456789abcdef01234567', 'GET'],
    ['/videos/video_1', 'DELETE'],
    ['/videos/video_1/content', 'GET'],
  ] as const) {
    const shown = path.split('/')[2];
    t.same(
      await read(path, method),
      refused(`There is no video job ${shown}`, 'not_found'),
      `${method} ${path}`,
    );
  }
  for (const [path, method] of [
    [`/videos/${id}`, 'GET'],
    [`/videos/${id}`, 'DELETE'],
    [`/videos/${id}/content`, 'GET'],
  ] as const)
    t.match(await read(path, method), {
      status: 404,
      body: { error: { metadata: { error_type: 'not_found' } } },
    });
  t.same(await read(`/videos/${id}/content?index=-1`), refused('index must be an integer of at least 0'));
  t.same(await read(`/videos/${id}/content?index=first`), refused('index must be an integer of at least 0'));
  t.same(await read(`/videos/${id}/content?variant=thumbnail`), refused('variant must be "video"'));
  t.same(await read('/videos?limit=0'), refused('limit must be an integer from 1 to 100'));
  t.same(await read('/videos?limit=many'), refused('limit must be an integer from 1 to 100'));
  t.same(await read('/videos?order=up'), refused('order must be one of "asc", "desc"'));
  const unknown = await fetch(`${gateway.url}/videos/${id}`, { method: 'POST', headers: { authorization } });
  t.equal(unknown.status, 405);
  t.equal(unknown.headers.get('allow'), 'GET, HEAD, DELETE, OPTIONS');
  t.equal((await fetch(`${gateway.url}/videos/${id}/content`)).status, 401, 'content needs the key');
  t.equal((await fetch(`${gateway.url}/videos/models`)).status, 401, 'so do the models');
});

t.test('refused requests create and store nothing', async (t) => {
  const response = await fetch(`${gateway.url}/videos`, { headers: { authorization } });
  t.same(await response.json(), { object: 'list', data: [], first_id: null, last_id: null, has_more: false });
  t.equal(kept.length, 1, 'one was kept before its neighbour was refused');
  // Its removal may still have been under way when the refusal was sent.
  const isThere = async (): Promise<boolean> => (await blobs.stat(kept[0] ?? '')) !== undefined;
  for (let left = 100; left > 0 && (await isThere()); left--)
    await new Promise((done) => setTimeout(done, 20));
  t.notOk(await isThere());
});

t.test('HEIC and HEIF are detected by their bytes', async (t) => {
  for (const brand of ['heic', 'mif1'] as const) {
    const said = await post({ ...good, input_reference: dataUri(await heic({ brand }), 'image/png') });
    t.match(said, { status: 202, body: { status: 'pending' } });
  }
});
