/** Items as Qdrant points: ids, payloads, and filter conditions. */
import { createHash } from 'node:crypto';
import type { Schemas } from '@qdrant/js-client-rest';
import type { Item, Point } from '../../ports/vectors.ts';
import { direction } from './direction.ts';

export type Condition = Schemas['FieldCondition'] | Schemas['HasIdCondition'];

/** Qdrant takes UUIDs: these are made of the store and the id, always the same. */
export const pointId = (store: string, id: string): string => {
  const hash = createHash('sha256').update(`${store}\n${id}`).digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x80;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};

export const isEqual = (key: string, value: string | number | boolean): Condition => ({
  key,
  match: { value },
});

/** Published or not. */
export const ofStore = (store: string): Condition[] => [isEqual('store', store)];
export const ofFile = (store: string, file: string): Condition[] => [
  ...ofStore(store),
  isEqual('file', file),
];
export const visible = (store: string, file?: string): Condition[] => [
  ...(file === undefined ? ofStore(store) : ofFile(store, file)),
  isEqual('published', true),
];

export const toStruct = (store: string, point: Point): Schemas['PointStruct'] => ({
  id: pointId(store, point.id),
  vector: numbersOf(point.vector),
  payload: {
    store,
    published: false,
    id: point.id,
    file: point.file,
    filename: wellFormed(point.filename),
    index: point.index,
    text: wellFormed(point.text),
    description: wellFormed(point.description),
    createdAt: point.createdAt,
    updatedAt: point.updatedAt,
  },
});

export const numbersOf = (vector: Float32Array): number[] => Array.from(direction(vector));

/** Half a surrogate pair is no text: Qdrant refuses it. */
export const wellFormed = (text: string): string => Buffer.from(text).toString();

/** Of a payload that `toStruct` made. */
export const toItem = (payload: Readonly<Record<string, unknown>>): Item => ({
  id: String(payload.id),
  file: String(payload.file),
  filename: String(payload.filename),
  index: Number(payload.index),
  text: String(payload.text),
  description: String(payload.description),
  createdAt: Number(payload.createdAt),
  updatedAt: Number(payload.updatedAt),
});

/** Points of a request, and the characters they may have together: the server takes 32 MB. */
const mostPoints = 64;
const mostCharacters = 4_000_000;

export function* requests(points: readonly Point[]): Generator<readonly Point[]> {
  let some: Point[] = [];
  let characters = 0;
  for (const point of points) {
    const more = point.text.length + point.description.length + point.filename.length;
    if (some.length === mostPoints || (some.length > 0 && characters + more > mostCharacters)) {
      yield some;
      some = [];
      characters = 0;
    }
    some.push(point);
    characters += more;
  }
  if (some.length > 0) yield some;
}
