/** Reads a music request into a render: 400 names the field, 503 without a spec. */
import { randomInt } from 'node:crypto';
import { type MusicRequest, musicSettings } from '../../schemas/music.ts';
import { fail } from '../../src/errors.ts';
import { expectedMusicMs, type MusicSpec, musicSpec } from '../../src/music/spec.ts';
import type { MusicCall } from '../../src/ports/engines/render.ts';
import { checkEnum, checkRange, checkText } from '../core/checks.ts';
import type { ResolvedRequest } from '../core/resolve-model.ts';
import { readSeed } from './read-seed.ts';
import { checkFields, declaredSettings, numberOf, readSettings, type Setting } from './render-settings.ts';
import type { RenderTask } from './render-task.ts';

/** Of a model whose row has no limit. */
const usualPromptLength = 4000;
const seeds = 2 ** 31;

export const readMusicRequest = ({ body, model }: ResolvedRequest<MusicRequest>): RenderTask => {
  const spec = musicSpec(model);
  checkFields(body, model);
  checkText(body.prompt, 'prompt', model.per_request_limits?.max_prompt_length ?? usualPromptLength);
  const setting = readSettings(body, declaredSettings(musicSettings, model));
  const { duration } = spec;
  const seconds = within(setting('duration'), duration.min, duration.max) ?? duration.default;
  const songs = within(setting('n'), 1, spec.max_outputs) ?? 1;
  const lyrics = readLyrics(setting('lyrics'), spec);
  const format = readFormat(setting('response_format'), spec);
  const seed = readSeed(setting('seed')) ?? randomInt(seeds);
  return {
    model,
    media: [],
    startTimeField: '',
    call: { type: 'music', prompt: body.prompt, lyrics, seconds, n: songs, format, seed },
    request: {
      prompt: body.prompt,
      ...(lyrics === undefined ? {} : { lyrics }),
      duration: seconds,
      response_format: format,
      n: songs,
      seed,
    },
    billedSeconds: seconds * songs,
    expectedMs: expectedMusicMs(spec, seconds, songs),
    progressive: spec.streaming.progressive,
    callbackUrl: body.callback_url,
  };
};

type Text = Setting<string | undefined>;

const within = ({ field, value }: Setting<number | string | undefined>, min: number, max: number) => {
  const number = numberOf(value);
  return number === undefined ? undefined : checkRange(number, field, { min, max });
};

const readLyrics = ({ field, value }: Text, { max_lyrics }: MusicSpec): string | undefined => {
  if (value === undefined) return undefined;
  if (max_lyrics === undefined) throw fail('unsupported_parameter', `${field} is not taken by this model`);
  return checkText(value, field, max_lyrics);
};

const readFormat = ({ field, value }: Text, { formats }: MusicSpec): MusicCall['format'] =>
  checkEnum(value ?? formats[0] ?? '', field, formats);
