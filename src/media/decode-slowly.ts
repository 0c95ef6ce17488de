/** Long base64 in; its bytes out, decoded a piece per turn of the event loop so that no turn is long. */
import { setImmediate } from 'node:timers/promises';
import type { Base64 } from '../ports/media.ts';
import { asBuffer, decode, decodedSize } from './base64.ts';

/** Characters decoded in one turn, a multiple of four: a few tenths of a millisecond. */
const piece = 256 * 1024;

export const decodeSlowly = async (base64: Base64, signal: AbortSignal): Promise<Buffer> => {
  if (base64.length <= piece) return decode(base64);
  const bytes = Buffer.allocUnsafeSlow(decodedSize(base64));
  let written = 0;
  for (let at = 0; at < base64.length; at += piece) {
    if (at > 0) await setImmediate(undefined, { signal });
    const text =
      typeof base64 === 'string'
        ? base64.slice(at, at + piece)
        : asBuffer(base64.subarray(at, at + piece)).toString('latin1');
    written += bytes.write(text, written, 'base64');
  }
  return bytes.subarray(0, written);
};
