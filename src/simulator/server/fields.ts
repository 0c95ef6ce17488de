/** Checks the types of JSON fields; errors name the field. */
import { fail } from '../../errors.ts';
import { isObject } from '../../helpers/json-schema.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

const refuse = (field: string, what: string) => fail('invalid_request', `${field} must be ${what}`);

/** Null counts as absent. */
const optional =
  <T>(what: string, isOne: (value: unknown) => value is T) =>
  (value: unknown, field: string): T | undefined => {
    if (value === undefined || value === null) return undefined;
    if (!isOne(value)) throw refuse(field, what);
    return value;
  };

export const optionalObject = optional('an object', isObject);
export const optionalArray = optional('an array', (value): value is readonly unknown[] =>
  Array.isArray(value),
);
export const optionalString = optional('a string', (value) => typeof value === 'string');
export const optionalBoolean = optional('true or false', (value) => typeof value === 'boolean');
export const optionalNumber = optional('a number', (value) => typeof value === 'number');

export function optionalCount(value: unknown, field: string, low: number): number | undefined {
  const count = optionalNumber(value, field);
  if (count !== undefined && !(Number.isSafeInteger(count) && count >= low)) {
    throw refuse(field, `a whole number of at least ${low}`);
  }
  return count;
}

export function required<T>(value: T | undefined, field: string): T {
  if (value === undefined) throw fail('invalid_request', `${field} is missing`);
  return value;
}
