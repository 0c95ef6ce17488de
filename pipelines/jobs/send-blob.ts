/** Sends a blob, whole or the requested range, at the reader's pace. */
import { concat, from, map, type Observable, of, switchMap } from 'rxjs';
import { fail } from '../../src/errors.ts';
import type { BlobInfo, Blobs, ByteRange } from '../../src/ports/blobs.ts';
import type { Exchange, HeaderList, Reply } from '../../src/ports/exchange.ts';
import type { Step } from '../core/stage.ts';

export interface NamedBlob {
  readonly name: string;
  /** Of the response. */
  readonly cacheControl: string;
}

type Reader = Pick<Exchange, 'header' | 'backpressure' | 'method'>;

/** Files are user content: a browser must not run them as a page of ours. */
const guards: HeaderList = {
  'accept-ranges': 'bytes',
  'x-content-type-options': 'nosniff',
  'content-security-policy': 'sandbox',
};

export const sendBlob =
  (blobs: Blobs): Step<NamedBlob, Reply, { readonly exchange: Reader }> =>
  (blob, { exchange }) =>
    from(blobs.stat(blob.name)).pipe(
      switchMap((info) => {
        if (info === undefined) throw fail('not_found', 'There is no such file'); // 404
        return replies(blobs, exchange, blob, info);
      }),
    );

const replies = (
  blobs: Blobs,
  exchange: Reader,
  { name, cacheControl }: NamedBlob,
  { mediaType, size }: BlobInfo,
): Observable<Reply> => {
  const { backpressure, method } = exchange;
  const range = method === 'HEAD' ? 'all' : readByteRange(exchange.header('range'), size);
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
      ...guards,
      'cache-control': cacheControl,
      ...(isPart ? { 'content-range': `bytes ${start}-${end - 1}/${size}` } : {}),
    },
    length: end - start,
  };
  if (method === 'HEAD') return of(head);
  const bytes = blobs.read(name, backpressure, isPart ? range : undefined);
  return concat(of(head), bytes.pipe(map((chunk): Reply => ({ kind: 'bytes', bytes: chunk }))));
};

const one = /^bytes=(\d{0,15})-(\d{0,15})$/;

/** `none`: there is no such part. Several ranges, other units and what cannot be read get everything, as HTTP allows. */
export const readByteRange = (header: string, size: number): ByteRange | 'all' | 'none' => {
  const [, first, last] = one.exec(header.trim()) ?? [];
  if (first === undefined || last === undefined || first + last === '') return 'all';
  if (first === '')
    return Number(last) === 0 || size === 0 ? 'none' : { start: Math.max(0, size - Number(last)), end: size };
  const start = Number(first);
  const end = last === '' ? size : Number(last) + 1;
  if (end <= start) return last === '' ? 'none' : 'all';
  return start < size ? { start, end: Math.min(end, size) } : 'none';
};
