/** Maps a voice to synthesizer settings, always the same ones. */
import { createHash } from 'node:crypto';
import type { SpeechVoice } from '../../ports/engines/speech.ts';

interface Sound {
  readonly speaker: string;
  /** How long everything takes, 1 being the speaker's own pace. */
  readonly stretch: number;
}

const speakers = ['slt', 'rms', 'awb', 'kal16'] as const;

const known: Readonly<Record<string, Sound>> = {
  ada: { speaker: 'slt', stretch: 1 },
  ben: { speaker: 'rms', stretch: 1 },
  cleo: { speaker: 'slt', stretch: 1.2 },
  dan: { speaker: 'kal16', stretch: 1 },
};

export const voiceArguments = (voice: SpeechVoice): readonly string[] => {
  const { speaker, stretch } = soundOf(voice);
  return ['-voice', speaker, '--setf', `duration_stretch=${stretch}`];
};

const soundOf = (voice: SpeechVoice): Sound => {
  switch (voice.kind) {
    case 'builtin':
      return known[voice.id] ?? made(voice.id);
    case 'design':
      return made(voice.description);
    case 'clone':
      return made(voice.clip.bytes);
  }
};

const made = (source: string | Buffer): Sound => {
  const hash = createHash('sha256').update(source).digest();
  return {
    speaker: speakers[hash.readUInt8(0) % speakers.length] ?? 'slt',
    stretch: 0.85 + (hash.readUInt8(1) % 8) / 20,
  };
};
