/** Streams request bodies with large media in slices, so that other calls proceed meanwhile. */
import { setImmediate as nextTick } from 'node:timers/promises';

/** A string; or strings and media in alternation, media as base64 or raw bytes. */
export type OutgoingBody = string | readonly BodyPiece[];

export type BodyPiece = string | Uint8Array;

const SLICE = 256 * 1024;

export const bodyLength = (pieces: readonly BodyPiece[]): number =>
  pieces.reduce((sum, piece, index) => sum + (isMedia(index) ? piece.length : Buffer.byteLength(piece)), 0);

export async function* bodyBytes(pieces: readonly BodyPiece[]): AsyncGenerator<Uint8Array> {
  for (const [index, piece] of pieces.entries()) {
    if (!isMedia(index)) {
      yield typeof piece === 'string' ? Buffer.from(piece) : piece;
      continue;
    }
    for (let from = 0; from < piece.length; from += SLICE) {
      yield typeof piece === 'string'
        ? Buffer.from(piece.slice(from, from + SLICE), 'latin1')
        : piece.subarray(from, from + SLICE);
      // A fast peer would otherwise take everything within one tick.
      await nextTick();
    }
  }
}

const isMedia = (index: number): boolean => index % 2 === 1;
