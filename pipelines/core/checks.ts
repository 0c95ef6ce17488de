/** Checks values of requests: a 400 names the field. */
import { type ApiError, type FailureDetails, fail } from '../../src/errors.ts';
import type { Base64 } from '../../src/ports/media.ts';

/** A 400. */
export const invalid = (message: string, details?: FailureDetails): ApiError =>
  fail('invalid_request', message, details);

/** A field that one kind of object must have and another need not. */
export const required = <T>(value: T | undefined, field: string): T => {
  if (value === undefined) throw invalid(`${field} is required`);
  return value;
};

/** Schemas leave these open: long base64 of a large request is parsed to bytes. */
export const sourceOf = (value: unknown, field: string): Base64 => {
  if (typeof value === 'string' || value instanceof Uint8Array) return value;
  throw invalid(`${field} must be a string`);
};

/** Counts Unicode characters: UTF-16 units are at most twice as many, so few texts have to be counted. */
export const checkText = (value: unknown, field: string, maxLength: number): string => {
  if (typeof value !== 'string') throw invalid(`${field} must be a string`);
  if (value.length > maxLength && (value.length > 2 * maxLength || [...value].length > maxLength))
    throw invalid(`${field} must have at most ${maxLength} characters`);
  return value;
};

/** JSON.parse rounds beyond 2⁵³, maybe past the 64 bits of an engine: such a seed becomes one that all accept. */
export const engineSeed = (seed: number): number =>
  Number.isSafeInteger(seed) ? seed : Math.trunc(seed / 2 ** 11);

export const checkEnum = <T extends string>(value: string, field: string, values: readonly T[]): T => {
  const found = values.find((each) => each === value);
  if (found === undefined)
    throw invalid(`${field} must be one of ${values.map((each) => `"${each}"`).join(', ')}`);
  return found;
};

interface Range {
  readonly min: number;
  readonly max: number;
  /** Values outside the range that are accepted too. */
  readonly also?: readonly number[];
}

export const checkRange = (value: unknown, field: string, range: Range, isWhole = true): number => {
  if (typeof value !== 'number' || (isWhole && !Number.isInteger(value)))
    throw invalid(`${field} must be ${isWhole ? 'an integer' : 'a number'}`);
  const { min, max, also = [] } = range;
  if ((value < min || value > max) && !also.includes(value))
    throw invalid(
      `${field} must be between ${min} and ${max}${also.map((other) => ` or ${other}`).join('')}`,
    );
  return value;
};
