/** Simulates music models: samples while a song renders, then encoded files. */
import { concat, defer, EMPTY, map, mergeMap, type Observable, of } from 'rxjs';
import { expectedMusicMs } from '../../music/spec.ts';
import { wavHeader } from '../../music/wav.ts';
import { Backpressure } from '../../ports/backpressure.ts';
import type { Codec } from '../../ports/codec.ts';
import type { MusicCall, RenderEvent, RenderOutput } from '../../ports/engines/render.ts';
import { readDirectives } from '../directives.ts';
import { madePieces } from './made-pieces.ts';
import { renderSamples, type SampleLayout, sampleCount } from './music-samples.ts';
import { composeSong, type Score } from './music-score.ts';
import { renderClock } from './render-clock.ts';
import type { RenderingModel, RenderStudio } from './video.ts';

export const usualLayout: SampleLayout = { sampleRate: 32_000, channels: 2 };
/** Frames made at once: a quarter of a second. */
const pieceShare = 4;
const maxBytes = 512 * 1024 * 1024;
const timeoutMs = 300_000;
const lastShare = 0.1;

interface Song {
  readonly index: number;
  readonly score: Score;
  readonly layout: SampleLayout;
}

export const simulateMusic = (
  { codec, ticker, timeScale }: RenderStudio,
  model: RenderingModel,
  call: MusicCall,
  flow: { readonly backpressure: Backpressure },
): Observable<RenderEvent> =>
  defer(() => {
    const { directives, rest } = readDirectives(call.prompt, 'prompt');
    const spec = model.capabilities?.music;
    const layout =
      spec === undefined
        ? usualLayout
        : { sampleRate: spec.streaming.sample_rate, channels: spec.streaming.channels };
    const songs = Array.from({ length: call.n }, (_, index): Song => {
      const score = composeSong(`${rest}\n${call.lyrics ?? ''}`, call.seed, index, call.seconds);
      return { index, score, layout };
    });
    const expected = spec === undefined ? call.seconds * 100 : expectedMusicMs(spec, call.seconds, call.n);
    const clock = renderClock(directives.render ?? expected * timeScale, directives, ticker);
    return concat(
      grow(songs, clock, flow.backpressure),
      songs.map((song) => file(codec, song, call)),
    );
  });

/** As far as the clock says, but never ahead of a reader that is behind. */
const grow = (
  songs: readonly Song[],
  clock: Observable<number>,
  backpressure: Backpressure,
): Observable<RenderEvent> =>
  defer(() => {
    const made = songs.map(() => 0);
    return clock.pipe(
      mergeMap((done): Observable<RenderEvent> => {
        const progress: RenderEvent = { type: 'progress', done: done * (1 - lastShare) };
        if (backpressure.paused && done < 1) return of(progress);
        return concat(
          ...songs.map((song, index) => {
            const from = made[index] ?? 0;
            const until = Math.floor(sampleCount(song.score, song.layout) * done);
            made[index] = until;
            return samplesOf(song, from, until, backpressure);
          }),
          of(progress),
        );
      }, 1),
    );
  });

const samplesOf = (
  song: Song,
  start: number,
  end: number,
  backpressure: Backpressure,
): Observable<RenderEvent> => {
  if (end <= start) return EMPTY;
  return pieces(song, start, end, backpressure).pipe(
    map((bytes): RenderEvent => ({ type: 'samples', output: song.index, bytes })),
  );
};

const pieces = (
  { score, layout }: Song,
  start: number,
  end: number,
  backpressure: Backpressure,
): Observable<Uint8Array> => {
  const length = Math.ceil(layout.sampleRate / pieceShare);
  return madePieces(
    Math.ceil((end - start) / length),
    (index) => {
      const at = start + index * length;
      return renderSamples(score, layout, at, Math.min(end, at + length));
    },
    backpressure,
  );
};

const types: Readonly<Record<MusicCall['format'], string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  flac: 'audio/flac',
  opus: 'audio/ogg',
};

const encodings: Readonly<Record<Exclude<MusicCall['format'], 'wav'>, readonly string[]>> = {
  mp3: ['-c:a', 'libmp3lame', '-b:a', '128k', '-f', 'mp3'],
  flac: ['-c:a', 'flac', '-f', 'flac'],
  opus: ['-c:a', 'libopus', '-b:a', '96k', '-ar', '48000', '-f', 'ogg'],
};

const file = (codec: Codec, song: Song, { format }: MusicCall): RenderOutput => {
  const { score, layout, index } = song;
  const frames = sampleCount(score, layout);
  const samples = (backpressure: Backpressure) => pieces(song, 0, frames, backpressure);
  return {
    type: 'output',
    index,
    mediaType: types[format],
    seconds: frames / layout.sampleRate,
    bytes: (backpressure) => {
      if (format === 'wav')
        return concat(
          of(wavHeader({ ...layout, dataBytes: frames * layout.channels * 2 })),
          samples(backpressure),
        );
      const inputBackpressure = new Backpressure();
      const conversion = {
        inputArguments: ['-f', 's16le', '-ar', String(layout.sampleRate), '-ac', String(layout.channels)],
        arguments: encodings[format],
        // These begin with their length.
        seekableOutput: format !== 'opus',
        inputBackpressure,
        maxBytes,
        timeoutMs,
      };
      return codec.convert(samples(inputBackpressure), conversion, backpressure);
    },
  };
};
