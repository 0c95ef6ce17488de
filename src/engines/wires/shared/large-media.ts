/** Keeps large base64 out of the JSON being built, since scanning it blocks other calls. */
import { randomUUID } from 'node:crypto';
import type { Base64 } from '../../../ports/media.ts';
import type { OutgoingBody } from '../../http1/outgoing-body.ts';

const LARGE = 64 * 1024;
/** Unpredictable, so no content can contain it. */
const MARK = randomUUID();

export class LargeMedia {
  #kept: Base64[] | undefined;

  /** What to write into the JSON in its place. Must be called in the order in which the JSON is written. */
  setAside(base64: Base64): string {
    if (typeof base64 === 'string' && base64.length < LARGE) return base64;
    this.#kept ??= [];
    this.#kept.push(base64);
    return MARK;
  }

  putBack(json: string): OutgoingBody {
    const kept = this.#kept;
    if (kept === undefined) return json;
    return json.split(MARK).flatMap((text, index) => [text, ...kept.slice(index, index + 1)]);
  }
}
