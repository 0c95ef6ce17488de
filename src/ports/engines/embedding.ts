/** Embedding calls and results, independent of any engine. */

/** A text, or the ids of its tokens in the model's own vocabulary. */
export type EmbeddingInput = string | readonly number[];

export type VectorEncoding = 'float' | 'base64';

export interface EmbeddingCall {
  readonly inputs: readonly EmbeddingInput[];
  readonly encoding: VectorEncoding;
  /** Vectors are cut to their first so many numbers and made unit length again; undefined: as the model gives them. */
  readonly dimensions: number | undefined;
}

/**
 * The bytes of a vector as it stands in a JSON answer: `[0.1,…]`, or little-endian float32 numbers as base64 between
 * quotes. An engine that writes what was asked for is copied from, not read: that is most of what a vector would cost.
 */
export type VectorJson = Buffer;

/** The vectors of the inputs from `first` on, in their order. */
export interface Embedded {
  readonly first: number;
  readonly vectors: readonly VectorJson[];
  /** Read by the engine; undefined when it does not say. */
  readonly tokens: number | undefined;
}

/** The numbers of a vector that was asked for as base64. */
export const floatsOf = (vector: VectorJson): Float32Array => {
  const bytes = Buffer.from(JSON.parse(vector.toString('latin1')) as string, 'base64');
  // A copy: small buffers are cut from a pool and need not start where a float may.
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
};
