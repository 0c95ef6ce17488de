/** Composes a small piece of music from a prompt and a seed. */
import { hashText, Random } from '../random.ts';

export interface Note {
  /** Seconds from the beginning. */
  readonly at: number;
  readonly length: number;
  readonly frequency: number;
  readonly loudness: number;
  /** −1 is left, 1 right. */
  readonly side: number;
}

export interface Score {
  /** At most what was asked for: a song ends with a bar. */
  readonly seconds: number;
  /** Seconds of a bar; notes of bar n begin in it. */
  readonly bar: number;
  /** By bar. */
  readonly bars: readonly (readonly Note[])[];
}

const major = [0, 2, 4, 5, 7, 9, 11];
const minor = [0, 2, 3, 5, 7, 8, 10];
/** Steps of the scale that chords stand on. */
const progressions: readonly [readonly number[], ...(readonly number[])[]] = [
  [0, 4, 5, 3],
  [0, 5, 3, 4],
  [5, 3, 0, 4],
  [0, 3, 4, 3],
];
const arpeggio = [0, 2, 4, 2];
const beats = 4;

export const composeSong = (prompt: string, seed: number | string, index: number, asked: number): Score => {
  const random = new Random(hashText(`${prompt}\n${seed}\n${index}`));
  const bar = (beats * 60) / tempoOf(prompt, random);
  const count = Math.max(1, Math.floor(asked / bar));
  const scale = isSad(prompt) || random.fraction() < 0.3 ? minor : major;
  const root = 110 * 2 ** (random.integer(0, 11) / 12);
  const pitch = (step: number): number => {
    const octave = Math.floor(step / scale.length);
    return root * 2 ** (octave + (scale[step - octave * scale.length] ?? 0) / 12);
  };
  const chords = random.pick(progressions);
  let melody = 7;
  const bars = Array.from({ length: count }, (_, number) => {
    const chord = chords[number % chords.length] ?? 0;
    const start = number * bar;
    const beat = bar / beats;
    const notes: Note[] = [];
    for (let step = 0; step < beats; step++) {
      const at = start + step * beat;
      notes.push({ at, length: beat, frequency: pitch(chord) / 2, loudness: 0.22, side: 0 });
      for (const half of [0, 1])
        notes.push({
          at: at + (half * beat) / 2,
          length: beat,
          frequency: pitch(chord + (arpeggio[(step * 2 + half) % arpeggio.length] ?? 0) + 7),
          loudness: 0.1,
          side: -0.5,
        });
      if (random.fraction() < 0.75) {
        melody = Math.min(20, Math.max(9, melody + random.integer(-2, 2)));
        notes.push({ at, length: beat * 1.5, frequency: pitch(melody), loudness: 0.16, side: 0.4 });
      }
    }
    return notes;
  });
  return { seconds: Math.min(asked, count * bar), bar, bars };
};

const tempoOf = (prompt: string, random: Random): number => {
  if (/\b(fast|upbeat|dance|energetic|techno)\b/i.test(prompt)) return random.integer(124, 150);
  return /\b(slow|calm|ambient|ballad|lullaby)\b/i.test(prompt)
    ? random.integer(60, 80)
    : random.integer(88, 120);
};

const isSad = (prompt: string): boolean => /\b(sad|dark|minor|melancholy|melancholic|gloomy)\b/i.test(prompt);
