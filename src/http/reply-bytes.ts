/** The size and the bytes of a reply body, in one piece or several. */
import type { ReplyBody } from '../ports/exchange.ts';

/** Characters of text, bytes of the rest: at least a third of its bytes. */
export const sizeOf = (body: ReplyBody): number => {
  if (!isPieces(body)) return body.length;
  let size = 0;
  for (const piece of body) size += piece.length;
  return size;
};

/** In bytes. */
export const lengthOf = (body: ReplyBody): number => {
  if (!isPieces(body)) return Buffer.byteLength(body);
  let length = 0;
  for (const piece of body) length += Buffer.byteLength(piece);
  return length;
};

export const bytesOf = (body: ReplyBody): Buffer => {
  if (isPieces(body)) return Buffer.concat(body.map(bytesOf));
  return typeof body === 'string'
    ? Buffer.from(body)
    : Buffer.from(body.buffer, body.byteOffset, body.length);
};

/** Writes it into memory of three times its size; returns the number of bytes. */
export const writeTo = (memory: Buffer, body: ReplyBody): number => {
  if (!isPieces(body)) return writePiece(memory, body, 0);
  let at = 0;
  for (const piece of body) at += writePiece(memory, piece, at);
  return at;
};

const writePiece = (memory: Buffer, piece: string | Uint8Array, at: number): number => {
  if (typeof piece === 'string') return memory.write(piece, at);
  memory.set(piece, at);
  return piece.length;
};

const isPieces = (body: ReplyBody): body is readonly (string | Uint8Array)[] => Array.isArray(body);
