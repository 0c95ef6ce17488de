/** Speech of the OpenAI API, with the variants of vLLM-Omni and another Sluice. */
import type { Model } from '../../../../schemas/catalog.ts';
import type { SpeechCall, SpeechVoice, VoiceClip } from '../../../ports/engines/speech.ts';
import type { SpeechWire } from '../../wire.ts';
import { isObject, tryParse } from '../shared/json.ts';
import { LargeMedia } from '../shared/large-media.ts';
import { reportedError } from '../shared/reported-error.ts';

type Body = Record<string, unknown>;

export const speechWire: SpeechWire = {
  encode: (model, call) => {
    const large = new LargeMedia();
    const { asked_by: askedBy = 'openai', engine_format: format = 'pcm' } = model.capabilities?.speech ?? {};
    const body: Body = {
      model: model.served_as,
      input: call.input,
      instructions: call.instructions,
      ...voiceFields[askedBy](call.voice, large),
      response_format: format,
      language: languageOf(askedBy, call),
      seed: call.seed,
      ...samplingFields(askedBy, call),
    };
    // Without `stream` vLLM-Omni sends all of it at the end; with it alone, newer versions send events.
    if (askedBy === 'vllm' && format === 'pcm') Object.assign(body, { stream: true, stream_format: 'audio' });
    return { path: '/audio/speech', body: large.putBack(JSON.stringify(body)) };
  },
  failureOf: (body) => {
    const value = tryParse(body);
    return isObject(value) ? reportedError(value) : undefined;
  },
};

type AskedBy = NonNullable<NonNullable<NonNullable<Model['capabilities']>['speech']>['asked_by']>;

const voiceFields: Readonly<Record<AskedBy, (voice: SpeechVoice, large: LargeMedia) => Body>> = {
  openai: (voice) => (voice.kind === 'builtin' ? { voice: voice.id } : {}),
  sluice: (voice, large) => {
    switch (voice.kind) {
      case 'builtin':
        return { voice: voice.id };
      case 'design':
        return { voice: 'design', instructions: voice.description };
      case 'clone':
        return { voice: 'clone', input_references: referencesOf(voice.clip, voice.transcript, large) };
    }
  },
  vllm: (voice, large) => {
    switch (voice.kind) {
      case 'builtin':
        return { task_type: 'CustomVoice', voice: voice.id };
      case 'design':
        return { task_type: 'VoiceDesign', instructions: voice.description };
      case 'clone':
        return {
          task_type: 'Base',
          ref_audio: `data:${mediaTypeOf(voice.clip)};base64,${base64Of(voice.clip, large)}`,
          ref_text: voice.transcript,
          // Without the words of the clip only the sound of the voice can be had from it.
          x_vector_only_mode: voice.transcript === undefined ? true : undefined,
        };
    }
  },
};

/** vLLM-Omni ignores them anywhere else. */
const samplingFields = (askedBy: AskedBy, { temperature, topP, topK }: SpeechCall): Body => {
  const sampling = { temperature, top_p: topP, top_k: topK };
  const isEmpty = Object.values(sampling).every((value) => value === undefined);
  return askedBy !== 'vllm' ? sampling : isEmpty ? {} : { extra_params: sampling };
};

const referencesOf = (clip: VoiceClip, transcript: string | undefined, large: LargeMedia) => [
  { type: 'input_audio', input_audio: { data: base64Of(clip, large), format: clip.container } },
  ...(transcript === undefined ? [] : [{ type: 'text', text: transcript }]),
];

const base64Of = ({ bytes }: VoiceClip, large: LargeMedia): string =>
  large.setAside(bytes.toString('base64'));

const mediaTypeOf = ({ container }: VoiceClip): string =>
  `audio/${container === 'mp3' ? 'mpeg' : container === 'm4a' ? 'mp4' : container}`;

const englishNames = new Intl.DisplayNames('en', { type: 'language' });

/** vLLM-Omni knows languages by their names. */
const languageOf = (askedBy: AskedBy, { language }: SpeechCall): string | undefined => {
  if (askedBy !== 'vllm') return language;
  return language === undefined ? 'Auto' : englishNames.of(language);
};
