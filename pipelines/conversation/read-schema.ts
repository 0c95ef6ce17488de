/** Reads a JSON Schema that goes to the engine: 400 for one with too many values. */
import { invalid } from '../core/checks.ts';
import { freeJson } from '../core/parse-json.ts';

/** Members and items of all its levels; every stage that looks at a schema takes time for each. */
const mostValues = 20_000;

export const readSchema = <Schema extends object>(schema: Schema, path: string): Schema => {
  if (remaining(schema, mostValues) < 0)
    throw invalid(`${path} is too complex: it has more than ${mostValues} values`);
  return freeJson(schema);
};

/** What is left of `room` after the values within; below 0 as soon as there are more. The parser limits the depth. */
const remaining = (value: object, room: number): number => {
  if (ArrayBuffer.isView(value)) return room;
  let left = room;
  for (const member of Object.values(value) as readonly unknown[]) {
    left--;
    if (typeof member === 'object' && member !== null) left = remaining(member, left);
    if (left < 0) return left;
  }
  return left;
};
