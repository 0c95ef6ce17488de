/** Values of a JSON body in; typed values out, or a refusal that names the field. */
import { fail } from '../../errors.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const refuse = (field: string, what: string) => fail('invalid_request', `${field} must be ${what}`);

/** Null counts as absent in every one of these. */
export function optionalObject(value: unknown, field: string): JsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) throw refuse(field, 'an object');
  return value;
}

export function optionalArray(value: unknown, field: string): readonly unknown[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw refuse(field, 'an array');
  return value;
}

export function optionalString(value: unknown, field: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw refuse(field, 'a string');
  return value;
}

export function optionalBoolean(value: unknown, field: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean') throw refuse(field, 'true or false');
  return value;
}

export function optionalNumber(value: unknown, field: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number') throw refuse(field, 'a number');
  return value;
}

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
