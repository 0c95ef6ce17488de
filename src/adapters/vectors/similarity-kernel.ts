/** A memory in; a function out that multiplies rows of numbers in it with one query, four lanes at a time: WebAssembly, written here. */

export interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** As much of the platform's own as is used here: its types come with those of browsers only. */
declare const WebAssembly: {
  readonly Memory: new (limits: { initial: number; maximum: number }) => Memory;
  readonly Module: new (binary: Uint8Array<ArrayBuffer>) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: { readonly scan: Scan } };
};

/** In pages of 64 KiB. */
export const createMemory = (initial: number, maximum: number): Memory =>
  new WebAssembly.Memory({ initial, maximum });

/** Rows and the query are padded with zeros to a multiple of this. */
export const lanes = 16;

/**
 * `scan(row, end, width, query, scores)`: the product of the query with each row from `row` to `end`, written as floats
 * from `scores` on. All are byte offsets; `width` is the bytes of a row, a multiple of 64, never 0; so is `row < end`.
 */
export type Scan = (row: number, end: number, width: number, query: number, scores: number) => void;

export const createScan = (memory: Memory): Scan => {
  const instance = new WebAssembly.Instance(new WebAssembly.Module(binary()), { env: { memory } });
  return instance.exports.scan;
};

const i32 = 0x7f;
const v128 = 0x7b;
const endOfBlock = 0x0b;
const emptyBlock = 0x40;
const loop = (...body: number[]) => [0x03, emptyBlock, ...body, endOfBlock];
const branchIf = (depth: number) => [0x0d, depth];
const get = (local: number) => [0x20, local];
const set = (local: number) => [0x21, local];
const constant = (value: number) => [0x41, ...signed(value)];
const add = 0x6a;
const isLess = 0x49;
const addFloats = 0x92;
const storeFloat = [0x38, 2, 0];
const loadFour = (offset: number) => [0xfd, 0x00, 4, offset];
const fourZeros = [0xfd, 0x0c, ...Array<number>(16).fill(0)];
const lane = (index: number) => [0xfd, 0x1f, index];
const addFour = [0xfd, 0xe4, 0x01];
const multiplyFour = [0xfd, 0xe6, 0x01];

const [row, end, width, query, scores, place, sum0, sum1, sum2, sum3] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
const sums = [sum0, sum1, sum2, sum3];

const advance = (local: number, bytes: number) => [...get(local), ...constant(bytes), add, ...set(local)];

/** sum += row[offset…] · query[offset…]; four sums of their own, so that one need not wait for the other. */
const multiplyAndAdd = sums.flatMap((sum, index) => [
  ...get(sum),
  ...get(row),
  ...loadFour(index * 16),
  ...get(place),
  ...loadFour(index * 16),
  ...multiplyFour,
  ...addFour,
  ...set(sum),
]);

const total = [
  ...[...get(sum0), ...get(sum1), ...addFour],
  ...[...get(sum2), ...get(sum3), ...addFour],
  ...[...addFour, ...set(sum0)],
  ...[...get(sum0), ...lane(0), ...get(sum0), ...lane(1), addFloats],
  ...[...get(sum0), ...lane(2), ...get(sum0), ...lane(3), addFloats],
  addFloats,
];

const body = [
  ...loop(
    ...sums.flatMap((sum) => [...fourZeros, ...set(sum)]),
    ...get(query),
    ...set(place),
    ...loop(
      ...multiplyAndAdd,
      ...advance(row, lanes * 4),
      ...advance(place, lanes * 4),
      ...[...get(place), ...get(query), ...get(width), add, isLess, ...branchIf(0)],
    ),
    ...[...get(scores), ...total, ...storeFloat],
    ...advance(scores, 4),
    ...[...get(row), ...get(end), isLess, ...branchIf(0)],
  ),
  endOfBlock,
];

const unsigned = (value: number): number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
function signed(value: number): number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...signed(value >>> 7)];
}
const text = (words: string) => [words.length, ...Buffer.from(words, 'ascii')];
const section = (id: number, content: readonly number[]) => [id, ...unsigned(content.length), ...content];
const sized = (content: readonly number[]) => [...unsigned(content.length), ...content];

const binary = (): Uint8Array<ArrayBuffer> => {
  const locals = [2, 1, i32, sums.length, v128];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 5, i32, i32, i32, i32, i32, 0]),
    ...section(2, [1, ...text('env'), ...text('memory'), 0x02, 0x00, 1]),
    ...section(3, [1, 0]),
    ...section(7, [1, ...text('scan'), 0x00, 0]),
    ...section(10, [1, ...sized([...locals, ...body])]),
  ]);
};
