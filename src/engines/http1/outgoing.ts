/** Builds the bytes of a request: head and text in one write, media as an upload. */
import { type BodyPiece, bodyLength, type OutgoingBody } from '../outgoing-body.ts';
import { requestHead } from './request-head.ts';

export interface Outgoing {
  /** The head, and the body with it where that is a text. */
  readonly text: string | Buffer;
  readonly encoding: 'latin1' | 'utf8';
  /** What follows, in slices. */
  readonly upload: readonly BodyPiece[] | undefined;
}

const ascii = /^[\0-\x7f]*$/;

/** Without a body the content length is 0; with undefined there is no such header. */
export const outgoing = (
  start: string,
  requestId: string | undefined,
  more: string | undefined,
  body: OutgoingBody | null | undefined,
): Outgoing => {
  if (typeof body === 'string') return withText(start, requestId, more, body);
  const length = body === null ? 0 : body && bodyLength(body);
  return {
    text: requestHead(start, requestId, length, more),
    encoding: 'latin1',
    upload: body ?? undefined,
  };
};

/**
 * Most bodies have as many bytes as characters. Head and body are counted together: counting flattens the string, which
 * is then written as it is; counted separately, the body would be copied twice.
 */
const withText = (
  start: string,
  requestId: string | undefined,
  more: string | undefined,
  body: string,
): Outgoing => {
  const text = requestHead(start, requestId, body.length, more) + body;
  const surplus = Buffer.byteLength(text) - text.length;
  if (surplus === 0) return { text, encoding: 'latin1', upload: undefined };
  const head = requestHead(start, requestId, body.length + surplus, more);
  if (ascii.test(head)) return { text: head + body, encoding: 'utf8', upload: undefined };
  const bytes = Buffer.from(body);
  const latin1 = Buffer.from(requestHead(start, requestId, bytes.length, more), 'latin1');
  return { text: Buffer.concat([latin1, bytes]), encoding: 'latin1', upload: undefined };
};
