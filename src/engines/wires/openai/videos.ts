/** Videos and songs as jobs of OpenAI's video routes and of another Sluice. */
import type { Model } from '../../../../schemas/catalog.ts';
import { firstLine } from '../../../errors.ts';
import { jsonText } from '../../../helpers/json-text.ts';
import {
  type RenderCall,
  RenderError,
  type RenderInput,
  renderErrorCodes,
  type VideoCall,
} from '../../../ports/engines/render.ts';
import type { Base64 } from '../../../ports/media.ts';
import type { EngineJob, RenderWire } from '../../wire.ts';
import { isObject, type Json, parseObject, tryParse } from '../shared/json.ts';
import { unreadable } from '../shared/json-picker.ts';
import { LargeMedia } from '../shared/large-media.ts';
import { reportedError } from '../shared/reported-error.ts';
import { videoForm } from './video-form.ts';

const pathOf = ({ type }: RenderCall): string => (type === 'video' ? '/videos' : '/music');
const jobPath = (call: RenderCall, id: string): string => `${pathOf(call)}/${encodeURIComponent(id)}`;

const takesForm = ({ capabilities }: Model): boolean => capabilities?.video?.asked_by === 'vllm';

export const renderWire: RenderWire = {
  sendsFiles: takesForm,
  encode: (model, call, media) => {
    if (call.type === 'video' && takesForm(model))
      return { path: pathOf(call), ...videoForm(model, call, media) };
    const large = new LargeMedia();
    const body =
      call.type === 'video'
        ? { ...videoFields(model, call), ...mediaFields(call.inputs, media, large) }
        : {
            prompt: call.prompt,
            lyrics: call.lyrics,
            duration: call.seconds,
            response_format: call.format,
            n: call.n === 1 ? undefined : call.n,
            seed: seedOf(call),
          };
    const json = jsonText({ model: model.served_as, ...body });
    return { path: pathOf(call), body: large.putBack(json) };
  },
  decode: (call, body) => readJob(call, parseObject(body.toString('utf8'))),
  jobPath,
  contentPath: (call, id, output) => `${jobPath(call, id)}/content${output === 0 ? '' : `?index=${output}`}`,
  streamPath: (call, id, output) => `${jobPath(call, id)}/stream?index=${output}`,
};

const seedOf = ({ seed }: RenderCall): number | bigint => (typeof seed === 'string' ? BigInt(seed) : seed);

/** Only what the model takes: engines reject unknown fields. */
const videoFields = (model: Model, call: VideoCall): Json => {
  const takes = (name: string): boolean => model.supported_parameters.includes(name);
  return {
    prompt: call.prompt,
    seconds: String(call.seconds),
    size: `${call.width}x${call.height}`,
    ...(takes('generate_audio') ? { generate_audio: call.audio } : {}),
    ...(takes('seed') ? { seed: seedOf(call) } : {}),
    ...scheduleFields(model, call, takes),
    ...(call.startTimeSeconds === undefined ? {} : { start_time_seconds: call.startTimeSeconds }),
  };
};

/** By the tier's name where it is the tier's count, else by number. */
const scheduleFields = (
  { capabilities }: Model,
  { steps, quality, inputs }: VideoCall,
  takes: (name: string) => boolean,
): Json => {
  const tier = Object.entries(capabilities?.video?.tiers ?? {}).find(([name]) => name === quality)?.[1];
  const references = inputs.some(({ use }) => use === 'reference');
  const count = references ? (tier?.reference_steps ?? tier?.steps) : tier?.steps;
  if (tier !== undefined && count === steps) return takes('quality') ? { quality } : {};
  return takes('num_inference_steps') ? { num_inference_steps: steps } : {};
};

/** A first frame alone has a field that every engine of this kind knows. */
const mediaFields = (inputs: readonly RenderInput[], media: readonly Base64[], large: LargeMedia): Json => {
  const given = inputs.map((input, index) => ({
    ...input,
    url: () => `data:${input.mediaType};base64,${large.setAside(media[index] ?? '')}`,
  }));
  const [only] = given;
  if (only === undefined) return {};
  if (given.length === 1 && only.use === 'first_frame') return { input_reference: { image_url: only.url() } };
  if (only.use !== 'reference')
    return {
      frame_images: given.map(({ use, url }) => ({
        type: 'image_url',
        image_url: { url: url() },
        frame_type: use,
      })),
    };
  return {
    input_references: given.map(({ kind, url }) => {
      const type = `${kind}_url`;
      return { type, [type]: { url: url() } };
    }),
  };
};

const states: ReadonlyMap<unknown, EngineJob['state']> = new Map([
  ['pending', 'waiting'],
  ['queued', 'waiting'],
  ['in_progress', 'rendering'],
  ['completed', 'done'],
  ['failed', 'failed'],
  ['cancelled', 'failed'],
  ['expired', 'failed'],
]);

/** vLLM-Omni reports a job that failed with the status of its failure: the server itself is well. */
export const isFailedJob = (body: string): boolean => {
  if (!body.includes('"failed"')) return false;
  const record = tryParse(body);
  return isObject(record) && typeof record.id === 'string' && record.status === 'failed';
};

const readJob = (call: RenderCall, record: Json): EngineJob => {
  const state = states.get(record.status);
  if (typeof record.id !== 'string' || record.id === '' || state === undefined)
    throw reportedError(record) ?? unreadable(new Error('The answer is no job'));
  const percent = typeof record.progress === 'number' ? record.progress : 0;
  return {
    id: record.id,
    state,
    done: Math.min(1, Math.max(0, percent / 100)),
    outputs: state === 'done' ? outputsOf(call) : [],
    failure: state === 'failed' ? failureOf(record) : undefined,
  };
};

const musicTypes = { mp3: 'audio/mpeg', wav: 'audio/wav', flac: 'audio/flac', opus: 'audio/ogg' } as const;

/** What the record says of them does not matter: the files are read. */
const outputsOf = (call: RenderCall): EngineJob['outputs'] => {
  if (call.type === 'video') return [{ index: 0, mediaType: 'video/mp4' }];
  return Array.from({ length: call.n }, (_, index) => ({ index, mediaType: musicTypes[call.format] }));
};

/** `error` is a string or an object. */
const failureOf = (record: Json): RenderError => {
  const { error } = record;
  const message = isObject(error) ? error.message : error;
  const code = record.error_code ?? (isObject(error) ? error.code : undefined);
  return new RenderError(
    renderErrorCodes.find((known) => known === code) ?? 'render_failed',
    typeof message === 'string' && message.trim() !== ''
      ? firstLine(message)
      : `The engine's job is ${record.status}`,
  );
};
