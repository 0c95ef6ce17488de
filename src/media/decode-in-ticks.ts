/** Base64 of many megabytes in; its bytes out, a piece in each turn of the event loop, so that streams go on meanwhile. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Base64 } from '../ports/media.ts';
import { asBuffer, decodedSize } from './base64.ts';

/** Characters a turn, a multiple of four: they take about a third of a millisecond. */
const turn = 1024 * 1024;

/** Rejects with the signal's reason when it is aborted. */
export const decodeInTurns = async (base64: Base64, signal: AbortSignal): Promise<Buffer> => {
  const bytes = Buffer.allocUnsafeSlow(decodedSize(base64));
  let length = 0;
  for (let at = 0; at < base64.length; at += turn) {
    if (at > 0) await nextTurn();
    signal.throwIfAborted();
    const piece =
      typeof base64 === 'string'
        ? base64.slice(at, at + turn)
        : asBuffer(base64.subarray(at, at + turn)).toString('latin1');
    length += bytes.write(piece, length, 'base64');
  }
  return bytes.subarray(0, length);
};
