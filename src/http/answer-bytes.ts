/** The body of an answer, in one piece or several, in; its size and its bytes out. */
import type { ReplyBody } from '../ports/exchange.ts';

/** Characters of what is text, bytes of the rest: no less than a third of the bytes that it takes. */
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

/** Writes it there, where there is room for three times its size; gives the number of bytes. */
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
