/** Checks fields that a schema leaves open: a 400 names the field. */
import { fail } from '../../src/errors.ts';
import type { Base64 } from '../../src/ports/media.ts';

export const required = <T>(value: T | undefined, field: string): T => {
  if (value === undefined) throw fail('invalid_request', `${field} is required`);
  return value;
};

/** Base64 that is long arrives as bytes. */
export const sourceOf = (value: unknown, field: string): Base64 => {
  if (typeof value === 'string' || value instanceof Uint8Array) return value;
  throw fail('invalid_request', `${field} must be a string`);
};
