/** A field that one kind of object must have and another need not, in; its value out, or 400 naming it. */
import { fail } from '../../src/errors.ts';

export const required = <T>(value: T | undefined, field: string): T => {
  if (value === undefined) throw fail('invalid_request', `${field} is required`);
  return value;
};
