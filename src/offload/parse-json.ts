/** Parses a JSON text with long base64 kept as transferable bytes. */
import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { fail } from '../errors.ts';
import { asBuffer } from '../media/base64.ts';
import { type Cut, type JsonBounds, scanJson } from './json-scan.ts';

interface ParsedJson {
  readonly value: unknown;
  /** Every buffer behind the bytes in the value. */
  readonly buffers: readonly ArrayBuffer[];
}

/** What is said of bytes that are no text. */
export const notUtf8 = 'The request body is not valid UTF-8';

/** Some clients write it before JSON. */
const byteOrderMark = Buffer.from('\ufeff');

/** Base64 from this length on has a buffer of its own, to be moved on alone; shorter ones share one. */
const ownBuffer = 1024 * 1024;

/** The integer under `wideKey` in the outermost object is a bigint where a number would lose digits. */
export const parseJson = (input: Uint8Array, bounds: JsonBounds, wideKey?: string): ParsedJson => {
  const bytes = asBuffer(input);
  if (!isUtf8(bytes)) throw fail('invalid_request', notUtf8);
  const text = bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark)
    ? bytes.subarray(byteOrderMark.length)
    : bytes;
  const cuts = scanJson(text, bounds, wideKey);
  if (cuts.length === 0) return { value: JSON.parse(text.toString()), buffers: [] };
  const mark = randomUUID();
  const value: unknown = JSON.parse(withMarks(text, cuts, mark));
  const { contents, buffers } = compact(cuts);
  return { value: putBack(value, mark, contents, []), buffers };
};

/** The text with a short string, which nobody can guess, for each cut. */
const withMarks = (text: Buffer, cuts: readonly Cut[], mark: string): string => {
  let marked = '';
  let at = 0;
  cuts.forEach(({ start, end, integer }, index) => {
    const quote = integer === undefined ? '' : '"';
    marked += text.toString('utf8', at, start) + quote + mark + index + quote;
    at = end;
  });
  return marked + text.toString('utf8', at);
};

type Content = Uint8Array | bigint | undefined;

const compact = (cuts: readonly Cut[]) => {
  const isShared = (length: number) => length < ownBuffer;
  const lengths = cuts.map(({ characters }) => characters?.length ?? 0);
  const shared = new ArrayBuffer(lengths.filter(isShared).reduce((total, length) => total + length, 0));
  const buffers: ArrayBuffer[] = shared.byteLength > 0 ? [shared] : [];
  let at = 0;
  const contents = cuts.map(({ characters, integer }): Content => {
    if (characters === undefined) return integer;
    const target = isShared(characters.length)
      ? new Uint8Array(shared, at, characters.length)
      : new Uint8Array(characters.length);
    if (target.buffer === shared) at += characters.length;
    else buffers.push(target.buffer);
    target.set(characters);
    return target;
  });
  return { contents, buffers };
};

type Path = (string | number)[];

const putBack = (value: unknown, mark: string, contents: readonly Content[], path: Path): unknown => {
  if (typeof value === 'string' && value.startsWith(mark)) {
    const content = contents[Number(value.slice(mark.length))];
    if (content === undefined) throw fail('invalid_request', `${pathText(path)} is not valid base64`);
    return content;
  }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      path.push(index);
      value[index] = putBack(value[index], mark, contents, path);
      path.pop();
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      if (typeof member !== 'object' && typeof member !== 'string') continue;
      path.push(key);
      const replaced = putBack(member, mark, contents, path);
      if (replaced !== member) Object.assign(value, { [key]: replaced });
      path.pop();
    }
  }
  return value;
};

const pathText = (path: Path): string =>
  path
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join('');
