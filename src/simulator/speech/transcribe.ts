/** Transcribes simulated speech by recognizing it; describes other recordings by their length. */
import { catchError, defaultIfEmpty, defer, last, map, type Observable, of, reduce, switchMap } from 'rxjs';
import { Backpressure } from '../../ports/backpressure.ts';
import type { Codec } from '../../ports/codec.ts';
import type { Flow } from '../../ports/engines/engine.ts';
import { speechRate } from '../../ports/engines/speech.ts';
import type { Recording, Transcribed, TranscriptionCall } from '../../ports/engines/transcription.ts';
import { splitTokens } from '../../tokens/simulator.ts';
import { type Directives, readDirectives } from '../directives.ts';

import { playPieces, supplyOf } from '../play-pieces.ts';
import type { Ticker } from '../ticker.ts';
import { Fingerprint, type SpeechMemory } from './memory.ts';
import { commentMark } from './speech.ts';

interface TranscriptionParts {
  readonly codec: Codec | undefined;
  readonly memory: SpeechMemory;
  readonly ticker: Ticker;
  /** Pieces a second, where the request does not say. */
  readonly rate: number;
}

/** Speech of ours is never longer: it would take an input of a hundred thousand characters. */
const longestSpeech = 4 * 3600;

export const simulateTranscription = (
  call: TranscriptionCall,
  { backpressure }: Pick<Flow, 'backpressure'>,
  parts: TranscriptionParts,
): Observable<Transcribed> =>
  defer(() => {
    const { directives } = readDirectives(call.prompt ?? '', 'prompt');
    const pace: Directives = {
      ...directives,
      rate: directives.rate ?? (call.stream ? parts.rate : Number.POSITIVE_INFINITY),
    };
    const heard = directives.text === undefined ? hear(call.audio, parts) : of(directives.text);
    return heard.pipe(
      switchMap((text) => playPieces(() => supplyOf(splitTokens(text)), pace, parts.ticker, backpressure)),
      map((text) => ({ text })),
    );
  });

/** The same recording always gives the same text. */
const hear = (audio: Recording, { codec, memory }: TranscriptionParts): Observable<string> => {
  const otherwise = aboutLength(audio.seconds);
  if (codec === undefined || audio.seconds > longestSpeech) return of(otherwise);
  return readComment(codec, audio).pipe(
    switchMap((text) =>
      text === undefined
        ? listen(codec, audio.bytes).pipe(map((sound) => memory.recall(sound) ?? otherwise))
        : of(text),
    ),
    // What cannot be read again after it was probed is no reason to fail a simulation.
    catchError(() => of(otherwise)),
  );
};

const aboutLength = (seconds: number): string => {
  const whole = Math.max(1, Math.round(seconds));
  return `This is a recording of about ${whole} second${whole === 1 ? '' : 's'}.`;
};

const tagLimit = 1024 * 1024;
const timeoutMs = 60_000;

/** Undefined when the file does not say that it is speech of ours. */
const readComment = (codec: Codec, { bytes, container }: Recording): Observable<string | undefined> => {
  // Ogg has the tags of a stream, others those of a file.
  const tags = container === 'ogg' ? ['-map_metadata', '0:s:0'] : [];
  const conversion = { arguments: [...tags, '-f', 'ffmetadata'], maxBytes: tagLimit, timeoutMs };
  return codec.convert(bytes, conversion, new Backpressure()).pipe(
    reduce((text, piece) => text + piece.toString('latin1'), ''),
    map((text) => commentOf(Buffer.from(text, 'latin1').toString())),
  );
};

/** A tag's value ends at the first line break that has no backslash before it. */
const commentOf = (tags: string): string | undefined => {
  for (const [, value = ''] of tags.matchAll(/^(?:comment|description)=((?:\\[\s\S]|[^\\\n])*)$/gimu)) {
    const text = value.replace(/\\([\s\S])/gu, '$1');
    if (text.startsWith(commentMark)) return text.slice(commentMark.length);
  }
  return undefined;
};

const listen = (codec: Codec, bytes: Buffer): Observable<Fingerprint> => {
  const fingerprint = new Fingerprint();
  const conversion = {
    arguments: ['-vn', '-ac', '1', '-ar', String(speechRate), '-f', 's16le'],
    maxBytes: longestSpeech * speechRate * 2 + tagLimit,
    timeoutMs,
  };
  return codec.convert(bytes, conversion, new Backpressure()).pipe(
    map((samples) => fingerprint.add(samples)),
    defaultIfEmpty(undefined),
    last(),
    map(() => fingerprint),
  );
};
