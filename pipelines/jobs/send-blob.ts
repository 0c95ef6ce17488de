/** A blob's name in; the replies that send it out: whole or the range asked for, with its length, at the reader's pace. */
import { concat, defer, map, type Observable, of, switchMap } from 'rxjs';
import { fail } from '../../src/errors.ts';
import type { BlobInfo, Blobs } from '../../src/ports/blobs.ts';
import type { Exchange, HeaderList, Reply } from '../../src/ports/exchange.ts';
import { readByteRange } from './byte-range.ts';

/** Files are what somebody sent or asked for: a browser must not run them as a page of ours. */
const guards: HeaderList = {
  'accept-ranges': 'bytes',
  'x-content-type-options': 'nosniff',
  'content-security-policy': 'sandbox',
};

export const sendBlob = (
  blobs: Blobs,
  exchange: Pick<Exchange, 'header' | 'backpressure' | 'method'>,
  name: string,
  headers: HeaderList = {},
): Observable<Reply> => {
  const asked = exchange.header('range');
  return defer(() => blobs.stat(name)).pipe(
    switchMap((info): Observable<Reply> => {
      if (info === undefined) throw fail('not_found', 'There is no such file'); // 404
      return reply(blobs, exchange, name, info, asked, { ...guards, ...headers });
    }),
  );
};

const reply = (
  blobs: Blobs,
  { backpressure, method }: Pick<Exchange, 'backpressure' | 'method'>,
  name: string,
  { mediaType, size }: BlobInfo,
  asked: string,
  headers: HeaderList,
): Observable<Reply> => {
  const range = method === 'HEAD' ? 'all' : readByteRange(asked, size);
  if (range === 'none') {
    const message = `The range lies outside of the file, which has ${size} bytes`;
    throw fail('range_not_satisfiable', message, { headers: { 'content-range': `bytes */${size}` } }); // 416
  }
  const isPart = range !== 'all';
  const { start, end } = isPart ? range : { start: 0, end: size };
  const head: Reply = {
    kind: 'head',
    status: isPart ? 206 : 200,
    headers: {
      'content-type': mediaType,
      ...headers,
      ...(isPart ? { 'content-range': `bytes ${start}-${end - 1}/${size}` } : {}),
    },
    length: end - start,
  };
  if (method === 'HEAD') return of(head);
  const bytes = blobs.read(name, backpressure, isPart ? range : undefined);
  return concat(of(head), bytes.pipe(map((piece): Reply => ({ kind: 'bytes', bytes: piece }))));
};
