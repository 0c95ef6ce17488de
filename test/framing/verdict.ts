/** Sends the segments of a case to a server and judges what comes back. */
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../eventually.ts';
import type { Case, Verdict } from './case.ts';

interface Received {
  readonly status: number;
  readonly body: string;
}

/** Longer than it takes a segment to be read on its own, on a machine with something to do. */
const betweenMs = 12;
/** Long enough to see that a server adds nothing to a complete response. */
const quietMs = 60;

export const judge = async (port: number, each: Case, patienceMs: number): Promise<Verdict> => {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  let bytes = Buffer.alloc(0);
  let closed = false;
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
  });
  // A reset is a close.
  socket.on('error', () => {});
  socket.on('close', () => {
    closed = true;
  });
  try {
    await eventually(() => !socket.connecting, 'a connection');
    for (const [index, segment] of each.segments.entries()) {
      if (index > 0) await delay(betweenMs);
      if (closed) break;
      socket.write(Buffer.from(segment, 'latin1'));
    }
    const until = performance.now() + patienceMs;
    let quietUntil: number | undefined;
    while (performance.now() < until) {
      const verdict = verdictOf(each, responsesIn(bytes.toString('latin1')), closed);
      // A response too many may still come.
      if (verdict === 'accepts' && each.rfc !== 'refuses' && !closed) {
        quietUntil ??= performance.now() + quietMs;
        if (performance.now() > quietUntil) return verdict;
      } else if (verdict !== undefined) return verdict;
      await delay(5);
    }
    return 'waits';
  } finally {
    socket.destroy();
  }
};

const verdictOf = (
  { rfc, served }: Case,
  responses: readonly Received[],
  closed: boolean,
): Verdict | undefined => {
  const good = responses.filter(({ status }) => status >= 200 && status < 300);
  if (good.some(({ body }, index) => index < served.length && body !== served[index])) return 'misreads';
  if (good.length > served.length) return rfc === 'refuses' ? 'accepts' : 'misreads';
  if (responses.some(({ status }) => status >= 400)) return closed ? 'refuses' : undefined;
  if (good.length === served.length && rfc !== 'refuses') return 'accepts';
  if (!closed) return undefined;
  return good.length === served.length ? 'refuses' : 'drops';
};

/** Those that are complete; one without a length ends with the connection and counts from its head on. */
const responsesIn = (text: string): readonly Received[] => {
  const responses: Received[] = [];
  for (let at = 0; ; ) {
    const end = text.indexOf('\r\n\r\n', at);
    if (end < 0) return responses;
    const head = text.slice(at, end);
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    const body =
      length === undefined ? chunksIn(text, end + 4) : text.slice(end + 4, end + 4 + Number(length));
    if (length !== undefined && body.length < Number(length)) return responses;
    responses.push({ status, body: length === undefined ? body.replace(/^.*?\r\n|\r\n.*$/gs, '') : body });
    at = end + 4 + body.length;
    if (status >= 400) return responses;
  }
};

/** A chunked body with its framing; these responses have one chunk. */
const chunksIn = (text: string, from: number): string => {
  const last = text.indexOf('\r\n0\r\n\r\n', from);
  return last < 0 ? text.slice(from) : text.slice(from, last + '\r\n0\r\n\r\n'.length);
};
