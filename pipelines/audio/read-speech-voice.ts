/** Reads the voice of a speech request; a clip to be cloned is loaded later: 400 names the field. */
import type { Model } from '../../schemas/catalog.ts';
import type { SpeechFields } from '../../schemas/speech.ts';
import { voicesOf } from '../../src/catalog/entry.ts';
import type { SpeechVoice } from '../../src/ports/engines/speech.ts';
import type { Base64 } from '../../src/ports/media.ts';
import { invalid } from '../core/checks.ts';
import { checkAudio } from './load-audio.ts';

/** A setting of the request. */
export interface Given<T> {
  readonly value: T;
  /** The path it was sent under, named in errors. */
  readonly field: string;
}

/** A voice that is to be cloned from a clip. */
export interface PendingClip {
  readonly kind: 'clip';
  readonly data: Base64;
  /** Of the clip, named in errors. */
  readonly field: string;
  readonly transcript: string | undefined;
}

export const readSpeechVoice = (
  model: Model,
  body: SpeechFields,
  instructions: Given<string> | undefined,
): SpeechVoice | PendingClip => {
  const references = body.input_references ?? [];
  const voice = chooseVoice(model, body, references.length > 0);
  if (voice.kind !== 'clone' && references.length > 0)
    throw invalid(`input_references is for voice clone only, not for voice ${voice.id}`);
  switch (voice.kind) {
    case 'builtin':
      return { kind: 'builtin', id: voice.id };
    case 'design':
      if (instructions === undefined || instructions.value.trim() === '')
        throw invalid('instructions is required with voice design: it describes the voice');
      return { kind: 'design', description: instructions.value };
    case 'clone':
      if (instructions !== undefined && instructions.value !== '')
        throw invalid(`${instructions.field} is not accepted with voice clone`);
      return readClip(references);
  }
};

const chooseVoice = (model: Model, { voice }: SpeechFields, hasReferences: boolean) => {
  const voices = voicesOf(model);
  const named = typeof voice === 'object' ? voice.id : voice;
  const id = named ?? (hasReferences ? 'clone' : model.voices?.[0]);
  if (id === undefined) throw invalid(`voice is required: model ${model.id} has no default speaker`);
  const found = voices.find((each) => each.id === id);
  if (found !== undefined) return found;
  const field = typeof voice === 'object' ? 'voice.id' : 'voice';
  if (named === undefined)
    throw invalid(`input_references is not accepted: model ${model.id} clones no voices`);
  throw invalid(
    `${field} must be one of ${voices.map((each) => each.id).join(', ')}, not ${JSON.stringify(id.slice(0, 64))}`,
  );
};

type References = NonNullable<SpeechFields['input_references']>;

const readClip = (references: References): PendingClip => {
  const clips = references.flatMap((part, index) => (part.type === 'input_audio' ? [{ part, index }] : []));
  const texts = references.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const [clip, second] = clips;
  if (clip === undefined) throw invalid('input_references must hold an input_audio clip for voice clone');
  if (second !== undefined) throw invalid('input_references must hold one input_audio clip only');
  const field = `input_references[${clip.index}].input_audio.data`;
  return { kind: 'clip', data: checkAudio(clip.part.input_audio.data, field), field, transcript: texts[0] };
};
