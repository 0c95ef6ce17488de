/** Loads the clip that an admitted speech request clones its voice from: 400 413 names the field. */
import { map, switchMap } from 'rxjs';
import { maxClipBytes, maxClipSeconds } from '../../schemas/speech.ts';
import type { SpeechVoice } from '../../src/ports/engines/speech.ts';
import type { KeyedRequest } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { Step } from '../core/stage.ts';
import { decodeAudio, probeAudio } from './load-audio.ts';
import type { SpeechDraft, SpeechTask } from './read-speech-request.ts';

export const loadVoice =
  ({
    media,
    codec,
  }: Pick<Ports, 'media' | 'codec'>): Step<SpeechDraft, SpeechTask, Pick<KeyedRequest, 'caller'>> =>
  ({ voice, ...draft }, { caller: { subscription } }) => {
    const taskOf = (loaded: SpeechVoice): SpeechTask => ({
      ...draft,
      call: { ...draft.call, voice: loaded },
    });
    if (voice.kind !== 'clip') return taskOf(voice);
    const { data, field, transcript } = voice;
    return decodeAudio(media.for(subscription), data, { field, maxBytes: maxClipBytes }).pipe(
      switchMap((bytes) => probeAudio(codec.for(subscription), bytes, { field, maxSeconds: maxClipSeconds })),
      map((clip) => taskOf({ kind: 'clone', clip, transcript })),
    );
  };
