/** Finds the log of a resumable stream, and sends what its reader has missed and what is still to come. */
import { concat, finalize, from, map, type Observable, of } from 'rxjs';
import { fail } from '../../src/errors.ts';
import {
  type Exchange,
  type Head,
  type KeyedRequest,
  noContent,
  type Reply,
} from '../../src/ports/exchange.ts';
import { goneBefore, type KeptStream, type Streams } from '../../src/ports/streams.ts';
import { invalid } from './checks.ts';
import { eventStreamHead } from './frame.ts';
import type { Step } from './stage.ts';

/** A stream that a client asks for. */
export interface StreamName {
  /** As in the path. */
  readonly id: string;
  /** What its log is known by; undefined for an id that no stream has. */
  readonly key: string | undefined;
}

export interface FoundStream {
  readonly name: StreamName;
  readonly stream: KeptStream;
}

/** The key of an id with this prefix. */
export const streamName =
  (prefix: string) =>
  ({ params: { id = '' } }: Pick<Exchange, 'params'>): StreamName => ({
    id,
    key: id.startsWith(prefix) && /^\w{1,100}$/.test(id) ? id.slice(prefix.length) : undefined,
  });

/** One that is unknown, another subscription's or expired gets the same 404. */
export const findStream =
  (streams: Streams, what: string): Step<StreamName, FoundStream, KeyedRequest> =>
  (name, { caller }) => {
    if (name.key === undefined) throw notFound(name, what);
    return from(streams.find(name.key, caller.subscription)).pipe(
      map((stream) => {
        if (stream === undefined) throw notFound(name, what);
        return { name, stream };
      }),
    );
  };

export const notFound = ({ id }: StreamName, what: string) =>
  fail('not_found', `There is no ${what} ${id.slice(0, 100)}, or its time is over`);

/** An event number in a query or a header; -1 where there is none. */
export const readEventNumber = (text: string, field: string): number => {
  if (text === '') return -1;
  if (!/^\d{1,15}$/.test(text)) throw invalid(`${field} must be the number of an event`);
  return Number(text);
};

/** `whenDone`: what a reader gets who has everything of a stream that has ended. */
export const sendStream = (
  { stream }: FoundStream,
  exchange: Exchange,
  after: number,
  headers: Head['headers'],
  whenDone: 'no content' | 'empty stream',
): Observable<Reply> => {
  if (whenDone === 'no content' && stream.isDone(after)) return of(noContent);
  if (after + 1 < stream.first) throw goneBefore(stream.first); // 410
  if (stream.fail !== undefined) exchange.stream = { error: stream.fail };
  const head: Head = { ...eventStreamHead, headers: { ...eventStreamHead.headers, ...headers } };
  const texts = stream.read(after, exchange.backpressure);
  return concat(of(head), texts.pipe(map(bytesOf))).pipe(
    finalize(() => {
      exchange.stream = undefined;
    }),
  );
};

const bytesOf = (bytes: string | Uint8Array): Reply => ({ kind: 'bytes', bytes });
