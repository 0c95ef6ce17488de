/** Synthesizes any segment of a score as 16-bit samples, always identically. */
import type { Note, Score } from './music-score.ts';

export interface SampleLayout {
  readonly sampleRate: number;
  readonly channels: number;
}

/** Seconds the end takes to fade. */
const fade = 1;

/** One period of a plucked string in three partials. */
const periodLength = 4096;
const period = Float32Array.from({ length: periodLength }, (_, index) => {
  const angle = (2 * Math.PI * index) / periodLength;
  return Math.sin(angle) + 0.4 * Math.sin(2 * angle) + 0.15 * Math.sin(3 * angle);
});

/** The envelope; a table, so that every segment has identical samples. */
const stepsPerSecond = 8000;
const attack = 0.01;
const decay = Float32Array.from({ length: 8 * stepsPerSecond }, (_, index) => {
  const time = index / stepsPerSecond;
  return Math.min(1, time / attack) * Math.exp(-2.5 * time);
});

export const sampleCount = ({ seconds }: Score, { sampleRate }: SampleLayout): number =>
  Math.round(seconds * sampleRate);

/** Frames from `start` up to, but without, `end`. */
export const renderSamples = (score: Score, layout: SampleLayout, start: number, end: number): Buffer => {
  const { sampleRate, channels } = layout;
  const sound = new Float32Array((end - start) * channels);
  // A note sounds on into the next bar at most.
  const firstBar = Math.max(0, Math.floor(start / sampleRate / score.bar) - 1);
  const lastBar = Math.floor(end / sampleRate / score.bar);
  for (let bar = firstBar; bar <= lastBar; bar++)
    for (const note of score.bars[bar] ?? []) addNote(sound, note, layout, start, end);
  // Little-endian, as every machine that this runs on has them.
  const samples = new Int16Array(sound.length);
  for (let at = 0; at < sound.length; at++) {
    const left = score.seconds - (start + Math.floor(at / channels)) / sampleRate;
    const value = (sound[at] ?? 0) * Math.min(1, Math.max(0, left / fade));
    samples[at] = Math.round(Math.max(-1, Math.min(1, value)) * 32_767);
  }
  return Buffer.from(samples.buffer);
};

const addNote = (
  sound: Float32Array,
  { at, length, frequency, loudness, side }: Note,
  { sampleRate, channels }: SampleLayout,
  start: number,
  end: number,
): void => {
  const from = Math.max(start, Math.round(at * sampleRate));
  const until = Math.min(end, Math.round((at + length) * sampleRate));
  const [left, right] = channels === 1 ? [1, 0] : [Math.min(1, 1 - side), Math.min(1, 1 + side)];
  for (let frame = from; frame < until; frame++) {
    const time = Math.max(0, frame / sampleRate - at);
    const periods = frequency * time;
    const place = (frame - start) * channels;
    const value =
      (period[((periods - Math.floor(periods)) * periodLength) | 0] ?? 0) *
      (decay[(time * stepsPerSecond) | 0] ?? 0) *
      Math.min(1, (length - time) * 50) *
      loudness;
    sound[place] = (sound[place] ?? 0) + value * left;
    if (channels > 1) sound[place + 1] = (sound[place + 1] ?? 0) + value * right;
  }
};
