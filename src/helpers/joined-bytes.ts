/** Joins pieces of bytes, however small, with little overhead per byte. */
import { defer, map, type OperatorFunction, reduce } from 'rxjs';

/** From this size on, a piece may stay where it is. */
const large = 4 * 1024;
const smallestBlock = 4 * 1024;
const largestBlock = 1024 * 1024;

/**
 * A Buffer object takes about a hundred bytes, and a slice keeps all of the read that it was cut from: small pieces are
 * copied into blocks. Those grow with what is there already, so that an eighth of it may be unused.
 */
export class JoinedBytes {
  /** Bytes that were added and not taken. */
  length = 0;
  #segments: Buffer[] = [];
  /** Being filled; its bytes from `#from` to `#used` follow the segments. */
  #block: Buffer | undefined;
  #from = 0;
  #used = 0;

  /** `owned`: the piece is not borrowed. It is then kept without a copy if it fills most of its memory. */
  add(piece: Uint8Array, owned = false): void {
    const size = piece.byteLength;
    if (size === 0) return;
    if (owned && size >= large && 2 * size >= piece.buffer.byteLength) this.append(asBuffer(piece));
    // Often the only one.
    else if (this.length === 0) this.append(Buffer.from(piece));
    else {
      this.#copy(piece);
      this.length += size;
    }
  }

  /** Keeps the piece without a copy: for large ones. */
  append(piece: Buffer): void {
    this.#closeBlock();
    this.#segments.push(piece);
    this.length += piece.length;
  }

  /** All bytes in one buffer; empty afterwards. */
  take(): Buffer {
    this.#closeBlock();
    const [first] = this.#segments;
    const all =
      first !== undefined && this.#segments.length === 1 ? first : Buffer.concat(this.#segments, this.length);
    this.clear();
    return all;
  }

  /** The first bytes, as many as lie together; undefined when there are none. */
  shift(): Buffer | undefined {
    if (this.#segments.length === 0) this.#closeBlock();
    const first = this.#segments.shift();
    if (first === undefined) return undefined;
    this.length -= first.length;
    if (this.length === 0) this.#block = undefined;
    return first;
  }

  /** The first bytes, which stay here. */
  first(count: number): Buffer {
    const all = this.take();
    this.append(all);
    return all.subarray(0, count);
  }

  clear(): void {
    this.#segments = [];
    this.#block = undefined;
    this.length = 0;
  }

  /** What is in the block becomes a segment; the rest of the block is still filled. */
  #closeBlock(): void {
    if (this.#block === undefined || this.#from === this.#used) return;
    this.#segments.push(this.#block.subarray(this.#from, this.#used));
    this.#from = this.#used;
  }

  #copy(piece: Uint8Array): void {
    let rest = piece;
    const room = this.#block === undefined ? 0 : this.#block.length - this.#used;
    if (this.#block !== undefined && room > 0 && room < rest.byteLength) {
      this.#block.set(rest.subarray(0, room), this.#used);
      this.#used += room;
      rest = rest.subarray(room);
    }
    let block = this.#block;
    if (block === undefined || this.#used === block.length) {
      this.#closeBlock();
      block = Buffer.allocUnsafeSlow(Math.max(rest.byteLength, this.#blockBytes()));
      this.#block = block;
      this.#from = 0;
      this.#used = 0;
    }
    block.set(rest, this.#used);
    this.#used += rest.byteLength;
  }

  #blockBytes(): number {
    return Math.min(largestBlock, Math.max(smallestBlock, this.length >> 3));
  }
}

/** The whole of a stream whose pieces are not borrowed. */
export const joinBytes: OperatorFunction<Uint8Array, Buffer> = (source) =>
  defer(() =>
    source.pipe(
      reduce((all, piece) => {
        all.add(piece, true);
        return all;
      }, new JoinedBytes()),
      map((all) => all.take()),
    ),
  );

const asBuffer = (bytes: Uint8Array): Buffer =>
  bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
