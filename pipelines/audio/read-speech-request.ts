/** Reads a speech request into a draft of the engine call and the form of its response: 400 names the field. */
import type { Model } from '../../schemas/catalog.ts';
import { type SpeechFields, type SpeechFormat, SpeechOptions } from '../../schemas/speech.ts';
import { ApiError, fail } from '../../src/errors.ts';
import { isObject } from '../../src/helpers/json-schema.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import type { SpeechCall, SpeechVoice } from '../../src/ports/engines/speech.ts';
import type { KeyedRequest } from '../../src/ports/exchange.ts';
import { checkText, engineSeed, invalid } from '../core/checks.ts';
import type { ResolvedRequest } from '../core/resolve-model.ts';
import { validate } from '../core/validate.ts';
import { readLanguage } from './read-language.ts';
import { type Given, type PendingClip, readSpeechVoice } from './read-speech-voice.ts';

export interface SpeechTask {
  readonly model: Model;
  readonly call: SpeechCall;
  readonly format: SpeechFormat;
  readonly speed: number;
  readonly sse: boolean;
  /** The response is the samples as they are made: nothing is converted on the way to the client. */
  readonly streams: boolean;
  /** The client's where it gets the samples; its own, never paused, where they are gathered first. */
  readonly backpressure: Backpressure;
}

/** A task whose voice may still have to be loaded. */
export interface SpeechDraft extends Omit<SpeechTask, 'call'> {
  readonly call: Omit<SpeechCall, 'voice'>;
  readonly voice: SpeechVoice | PendingClip;
}

/** Of a model that names no limit of its own. */
const longestInput = 100_000;
/** Engines read a zero as something else. */
const smallestTopP = 0.000001;

export const readSpeechRequest = (
  { model, body }: ResolvedRequest<SpeechFields>,
  { exchange }: Pick<KeyedRequest, 'exchange'>,
): SpeechDraft => {
  checkInput(model, body.input);
  const options = readSpeechOptions(body);
  const language = options.language && readLanguage(options.language.value, options.language.field);
  const format = body.response_format ?? 'mp3';
  const speed = options.speed?.value ?? 1;
  const streams = format === 'pcm' && speed === 1;
  const voice = readSpeechVoice(model, body, options.instructions);
  return {
    model,
    voice,
    call: {
      input: body.input,
      instructions: voice.kind === 'builtin' ? options.instructions?.value : undefined,
      language,
      seed: options.seed && engineSeed(options.seed.value),
      temperature: options.temperature?.value,
      topP: options.top_p && Math.max(smallestTopP, options.top_p.value),
      topK: options.top_k?.value,
    },
    format,
    speed,
    sse: body.stream_format === 'sse',
    streams,
    backpressure: streams ? exchange.backpressure : new Backpressure(),
  };
};

const checkInput = (model: Model, input: string): void => {
  checkText(input, 'input', model.per_request_limits?.max_prompt_length ?? longestInput);
  if (input.trim() === '') throw invalid('input must not be blank');
};

type GivenOptions = {
  readonly [Name in keyof SpeechOptions]?: Given<NonNullable<SpeechOptions[Name]>>;
};

type Fields = Readonly<Record<string, unknown>>;

const names = Object.keys(SpeechOptions.properties);
const speechOptions = validate(SpeechOptions);

/** The top level wins; then options by themselves; then those under a provider's name. */
const readSpeechOptions = (body: Fields): GivenOptions => {
  const given: Record<string, Given<unknown>> = {};
  const take = (fields: Fields, path: string): void => {
    for (const name of names)
      if (given[name] === undefined && fields[name] !== undefined && fields[name] !== null)
        given[name] = { value: fields[name], field: path + name };
  };
  take(body, '');
  const options = isObject(body.provider) ? body.provider.options : undefined;
  if (isObject(options)) {
    take(checked(options, 'provider.options.'), 'provider.options.');
    for (const [provider, own] of Object.entries(options))
      if (!names.includes(provider) && isObject(own)) {
        const path = `provider.options.${provider.slice(0, 64)}.`;
        take(checked(own, path), path);
      }
  }
  return given as GivenOptions;
};

/** An error names the whole path of the field. */
const checked = (options: Fields, path: string): Fields => {
  try {
    return speechOptions(
      Object.fromEntries(Object.entries(options).filter(([name]) => names.includes(name))),
    );
  } catch (error) {
    throw error instanceof ApiError ? fail(error.kind, path + error.message) : error;
  }
};
