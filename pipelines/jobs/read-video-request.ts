/** Reads a video request into a render: 400 names the field, 503 without a spec. */
import { randomInt } from 'node:crypto';
import { type VideoFields, videoSettings } from '../../schemas/videos.ts';
import type { VideoCall } from '../../src/ports/engines/render.ts';
import { billedSeconds } from '../../src/video/bill.ts';
import { readPicture } from '../../src/video/picture.ts';
import { readSchedule, type Schedule } from '../../src/video/schedule.ts';
import { type VideoSpec, videoSpec } from '../../src/video/spec.ts';
import { expectedVideoMs } from '../../src/video/timing.ts';
import { checkRange, checkText } from '../core/checks.ts';
import type { ResolvedRequest } from '../core/resolve-model.ts';
import { readSeed } from './read-seed.ts';
import { readVideoMedia } from './read-video-media.ts';
import { checkFields, declaredSettings, numberOf, readSettings } from './render-settings.ts';
import type { RenderTask } from './render-task.ts';

/** Of a model whose row has no limit. */
const usualPromptLength = 7000;
const seeds = 2 ** 31;
const aliases = { seconds: 'duration', input_reference: 'frame_images' };

export const readVideoRequest = ({ body, model }: ResolvedRequest<VideoFields>): RenderTask => {
  const spec = videoSpec(model);
  checkFields(body, model, aliases);
  checkText(body.prompt, 'prompt', model.per_request_limits?.max_prompt_length ?? usualPromptLength);
  const setting = readSettings(body, declaredSettings(videoSettings, model));
  const seconds = readSeconds(body, spec);
  const picture = readPicture(spec, body);
  const media = readVideoMedia(body, spec);
  const references = media.some(({ use }) => use === 'reference');
  const [quality, steps] = [setting('quality'), setting('num_inference_steps')];
  const schedule = readSchedule(
    spec,
    picture,
    { quality: quality.value, steps: numberOf(steps.value), references },
    { quality: quality.field, steps: steps.field },
  );
  const startTime = setting('start_time_seconds');
  const seed = readSeed({ field: 'seed', value: body.seed }) ?? randomInt(seeds);
  const audio = body.generate_audio ?? true;
  const call: VideoCall = {
    type: 'video',
    prompt: body.prompt,
    seconds,
    width: picture.width,
    height: picture.height,
    upscaled: picture.enlarged,
    steps: schedule.steps,
    quality: schedule.tier,
    audio,
    seed,
    startTimeSeconds: numberOf(startTime.value),
    inputs: [],
  };
  return {
    model,
    media,
    startTimeField: startTime.field,
    call,
    request: {
      prompt: body.prompt,
      duration: seconds,
      size: picture.size,
      resolution: picture.resolution,
      aspect_ratio: picture.aspectRatio,
      quality: qualityName(spec, schedule),
      num_inference_steps: schedule.steps,
      seed,
      generate_audio: audio,
      fps: spec.fps,
    },
    billedSeconds: billedSeconds(spec, { seconds, picture, schedule }),
    expectedMs: expectedVideoMs(spec, { seconds, resolution: picture.resolution, references }),
    progressive: false,
    callbackUrl: body.callback_url,
  };
};

const readSeconds = (body: VideoFields, { duration }: VideoSpec): number => {
  const field = body.duration === undefined ? 'seconds' : 'duration';
  return checkRange(numberOf(body[field]) ?? duration.default, field, duration);
};

/** The tier's own name, whatever alias was sent; `custom` for steps of no tier. */
const qualityName = ({ tiers }: VideoSpec, { tier, steps }: Schedule): string =>
  tier ?? Object.entries(tiers).find(([, one]) => one.steps === steps)?.[0] ?? 'custom';
