/** Writes requests: heads that cannot be injected into, text in one write, media as an upload. */
import { type BodyPiece, bodyLength, type OutgoingBody } from './outgoing-body.ts';

interface RequestLines {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Names and values alternate; none of those that this file writes itself. */
  readonly headers: readonly string[];
}

const pathText = /^\/[\x21-\x7e]*$/;
const nameText = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
const valueText = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * What many requests begin with. `fixed` are the lines that are the same for every request to this host. Throws a
 * sentence that names the fault.
 */
export const requestStart = (lines: RequestLines, fixed: string): string => {
  const { method, path, headers } = lines;
  if (!pathText.test(path)) throw new Error('The path of the request cannot be sent');
  let head = `${method} ${path} HTTP/1.1\r\n${fixed}`;
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? '';
    const value = headers[index + 1] ?? '';
    if (!nameText.test(name)) throw new Error('The name of a header cannot be sent');
    if (!valueText.test(value)) throw new Error(`The value of the header ${name} cannot be sent`);
    head += `${name}: ${value}\r\n`;
  }
  return head;
};

/** The whole head; without a length the request has no body. `more` are whole lines, already checked. */
export const requestHead = (
  start: string,
  requestId: string | undefined,
  contentLength: number | undefined,
  more = '',
): string => {
  if (requestId !== undefined && !valueText.test(requestId))
    throw new Error('The id of the request cannot be sent');
  const id = requestId === undefined ? '' : `x-request-id: ${requestId}\r\n`;
  return `${start}${id}${more}${contentLength === undefined ? '' : `content-length: ${contentLength}\r\n`}\r\n`;
};

export const fixedLines = (host: string): string => `host: ${host}\r\nconnection: keep-alive\r\n`;

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
