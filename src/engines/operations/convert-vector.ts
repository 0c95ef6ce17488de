/** Converts a vector from an engine's JSON to the encoding and dimensions of the call. */

import { cutVector, writeVector } from '../../helpers/vectors.ts';
import type { VectorEncoding, VectorJson } from '../../ports/engines/embedding.ts';
import { unreadable } from '../wires/shared/json-picker.ts';

export interface VectorWish {
  readonly encoding: VectorEncoding;
  readonly dimensions: number | undefined;
}

const quote = 0x22;

/** Engines may ignore the requested encoding; some wrap the vector in another list. */
export const convertVector = (given: Buffer, { encoding, dimensions }: VectorWish): VectorJson => {
  const isBase64 = given[0] === quote;
  const vector = isBase64 ? given : onlyRow(given);
  if (dimensions === undefined && isBase64 === (encoding === 'base64')) {
    if (isBase64) checkBase64(vector);
    else if (!isNumbers(vector)) throw unreadable();
    return vector;
  }
  const floats = isBase64 ? readBase64(vector) : readNumbers(vector);
  return writeVector(dimensions === undefined ? floats : cutVector(floats, dimensions), encoding);
};

/** `[[…]]` → `[…]`; a row for each token is no embedding of the input. */
const onlyRow = (given: Buffer): Buffer => {
  const inner = given.indexOf('[', 1);
  if (inner < 0) return given;
  const end = given.indexOf(']', inner);
  const rest = given.toString('latin1', 1, inner) + given.toString('latin1', end + 1, given.length - 1);
  if (rest.trim() !== '')
    throw unreadable(
      new Error('The engine gave several vectors for one input: is its pooling switched off?'),
    );
  return given.subarray(inner, end + 1);
};

/** Whole floats, at least one. */
const checkBase64 = (given: Buffer): void => {
  let characters = given.length - 2;
  while (characters > 0 && given[characters] === 0x3d) characters--;
  // An escaped character would make the count wrong: such a text is read, not counted.
  const bytes = given.includes('\\') ? readBase64(given).byteLength : Math.floor((characters * 3) / 4);
  if (bytes < 4 || bytes % 4 !== 0) throw unreadable();
};

const readNumbers = (given: Buffer): Float32Array => {
  if (!isNumbers(given)) throw unreadable();
  try {
    return Float32Array.from(JSON.parse(given.toString('latin1')) as number[]);
  } catch (cause) {
    throw unreadable(cause);
  }
};

/**
 * At least one number, and nothing that is none: some engines write `null` or `NaN` when their arithmetic fails. Every
 * other JSON token has one of these letters, and native searches are faster than any loop over the vector.
 */
const isNumbers = (given: Buffer): boolean =>
  /^\[\s*-?\d/.test(given.toString('latin1', 0, 64)) && !foreign.some((byte) => given.includes(byte));

const foreign = [...Buffer.from('nNul"{')];

const readBase64 = (given: Buffer): Float32Array => {
  const text = given.toString('latin1', 1, given.length - 1);
  const bytes = Buffer.from(text.includes('\\') ? text.replaceAll('\\/', '/') : text, 'base64');
  if (bytes.length < 4 || bytes.length % 4 !== 0) throw unreadable();
  const floats = new Float32Array(bytes.length / 4);
  Buffer.from(floats.buffer).set(bytes);
  return floats;
};
