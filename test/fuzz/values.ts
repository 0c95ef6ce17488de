/** Generates a small value that matches a schema from a seed. */
import type { Random } from '../../src/simulator/random.ts';
import { type Json, type JsonObject, type OpenApi, resolved, type Schema } from './document.ts';
import { png, pngUri, wav } from './samples.ts';

const maxDepth = 6;

const texts: readonly [string, ...string[]] = [
  'Hello',
  '/sim tokens=4\nHello',
  '/sim tokens=5 fail=503@0\nHello',
  '/sim tokens=5 fail=502@2\nHello',
  '/sim tokens=5 drop@2\nHello',
  '/sim render=100ms\nWater',
  'ééé 水 🌊',
  'a "quoted" \\ word',
  ' ',
  'line\nline\r\nline\u2028line',
];
const models: readonly [string, ...string[]] = [
  'sluice/chat',
  'sluice/chat:express',
  'sluice/reasoner',
  'sluice/vision',
  'sluice/embed',
  'sluice/embed-instruct',
  'sluice/decide',
  'sluice/rerank',
  'sluice/image',
  'sluice/image-edit',
  'sluice/video',
  'sluice/music',
  'sluice/speech',
  'sluice/transcribe',
  'anthropic/sluice/chat',
];

/** Fields whose schema says less than their rules do: values that get further than any string would. */
const byName: Readonly<Record<string, readonly [Json, ...Json[]]>> = {
  model: models,
  embedding_model: ['sluice/embed', 'sluice/embed-instruct'],
  url: [pngUri, `data:audio/wav;base64,${wav.toString('base64')}`, 'https://127.0.0.1/a.png'],
  image_url: [pngUri, { url: pngUri }],
  data: [png.toString('base64'), wav.toString('base64')],
  file_data: [png.toString('base64')],
  size: ['512x512', '768x512', '1344x768'],
  aspect_ratio: ['1:1', '16:9'],
  resolution: ['1K', '768p'],
  output_format: ['png', 'jpeg', 'webp'],
  background: ['auto', 'opaque', 'transparent'],
  voice: ['ada', 'design'],
  n: [1, 2],
  duration: [4, 6, '5'],
  seconds: [4, '4'],
  callback_url: ['https://example.com/hook', 'https://127.0.0.1/hook'],
  quality: ['auto', 'low', 'high', 'turbo'],
  limit: [1, 5, 100],
  group_by: ['day', 'model,route', 'request'],
  from: ['2026-01-01', '1767225600'],
  to: ['2027-01-01'],
  output_modalities: ['all', 'text', 'text,image'],
  format: ['openrouter', 'wav', 'png'],
  collection: ['{store}'],
  after: ['{video}', '{store}'],
  before: ['{music}'],
  file_id: ['{file}'],
  // Wide numbers make an answer long or a window too small, and nothing else.
  max_tokens: [1, 16, 2000],
  max_completion_tokens: [1, 16],
  max_output_tokens: [16, 64],
};

export const makeValue = (schema: Schema, document: OpenApi, random: Random, name = '', depth = 0): Json => {
  const hints = byName[name];
  if (hints !== undefined && random.fraction() < 0.85) return random.pick(hints);
  const real = resolved(schema, document);
  if (real.const !== undefined) return real.const;
  if (real.enum !== undefined) return pickAny(real.enum, random);
  if (real.anyOf !== undefined)
    return makeValue(pickAny(real.anyOf, random), document, random, name, depth + 1);
  switch (real.type) {
    case 'string':
      return makeText(real, random);
    case 'integer':
      return makeNumber(real, random, true);
    case 'number':
      return makeNumber(real, random, false);
    case 'boolean':
      return random.fraction() < 0.5;
    case 'null':
      return null;
    case 'array':
      return makeArray(real, document, random, depth);
    case 'object':
      return makeObject(real, document, random, depth);
    default:
      return random.pick<Json>(['any', 1, true, null, {}, [], { type: 'object', properties: {} }]);
  }
};

const pickAny = <T>(items: readonly T[], random: Random): T => {
  const item = items[random.integer(0, items.length - 1)];
  if (item === undefined) throw new Error('Nothing to choose from');
  return item;
};

const makeText = ({ minLength = 0, maxLength, pattern }: Schema, random: Random): string => {
  if (pattern !== undefined) return /0-9/.test(pattern) && !/a-z/i.test(pattern) ? '4' : 'name_1';
  const text = random.pick(texts).padEnd(minLength, 'x');
  return maxLength === undefined ? text : text.slice(0, maxLength);
};

const makeNumber = ({ minimum = -10, maximum = 100 }: Schema, random: Random, whole: boolean): number => {
  const choice = random.integer(0, 3);
  if (choice === 0) return minimum;
  if (choice === 1) return maximum;
  const low = Math.max(minimum, -1000);
  const high = Math.max(low, Math.min(maximum, 1000));
  return whole ? random.integer(Math.ceil(low), Math.floor(high)) : low + random.fraction() * (high - low);
};

const makeArray = (schema: Schema, document: OpenApi, random: Random, depth: number): Json[] => {
  const { items = {}, minItems = 0, maxItems = 3 } = schema;
  const length =
    depth > maxDepth ? minItems : random.integer(minItems, Math.max(minItems, Math.min(maxItems, 3)));
  return Array.from({ length }, () => makeValue(items, document, random, '', depth + 1));
};

const makeObject = (schema: Schema, document: OpenApi, random: Random, depth: number): JsonObject => {
  const { properties = {}, required = [], patternProperties = {}, minProperties = 0 } = schema;
  const { additionalProperties: others } = schema;
  // Deep down, and among many, only what must be there: the rest is left to other requests.
  const share = depth > maxDepth ? 0 : Math.min(0.4, 4 / Math.max(1, Object.keys(properties).length));
  const made: JsonObject = {};
  for (const [name, each] of Object.entries(properties))
    if (required.includes(name) || random.fraction() < share)
      made[name] = makeValue(each, document, random, name, depth + 1);
  const [free = typeof others === 'object' ? others : undefined] = Object.values(patternProperties);
  if (free !== undefined)
    for (let count = random.integer(minProperties, Math.max(minProperties, 2)); count > 0; count--)
      made[`key_${count}`] = makeValue(free, document, random, '', depth + 1);
  return made;
};
