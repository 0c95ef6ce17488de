/** Base64 that a request carries in; its bytes out. 400 for anything else, 413 for too many. */
import { defer, type Observable, of } from 'rxjs';
import { fail } from '../../src/errors.ts';
import { decodeInTicks } from '../../src/media/base64.ts';
import type { Media, MediaRule } from '../../src/ports/media.ts';
import { offloaded } from '../../src/ports/offload.ts';

/** Characters that are decoded on the spot. */
const small = 256 * 1024;

export const readBase64Audio = (media: Media, data: unknown, rule: MediaRule): Observable<Buffer> =>
  defer(() => {
    if (typeof data !== 'string' && !(data instanceof Uint8Array))
      throw fail('invalid_request', `${rule.field} must be a string`);
    const start =
      typeof data === 'string' ? data.slice(0, 8) : Buffer.from(data.subarray(0, 8)).toString('latin1');
    if (/^data:/i.test(start))
      throw fail('invalid_request', `${rule.field} must be raw base64, not a data URI`);
    if (/^https?:/i.test(start))
      throw fail('invalid_request', `${rule.field} must be raw base64; URLs are not accepted`);
    const decoded = media.decode(data, rule);
    return data.length <= small
      ? of(decoded.bytes)
      : offloaded((signal) => decodeInTicks(decoded.base64, signal));
  });
