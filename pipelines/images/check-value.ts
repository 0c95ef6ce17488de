/** Checks values of a request against the rules of a model's spec: 400 names the path. */
import { fail } from '../../src/errors.ts';

interface Range {
  readonly min: number;
  readonly max: number;
  readonly also?: readonly number[];
}

export const checkRange = (value: unknown, path: string, range: Range, isWhole: boolean): number => {
  if (typeof value !== 'number' || (isWhole && !Number.isInteger(value)))
    throw fail('invalid_request', `${path} must be ${isWhole ? 'an integer' : 'a number'}`);
  const { min, max, also = [] } = range;
  if ((value < min || value > max) && !also.includes(value))
    throw fail(
      'invalid_request',
      `${path} must be between ${min} and ${max}${also.map((other) => ` or ${other}`).join('')}`,
    );
  return value;
};

export const checkEnum = <T extends string>(value: string, path: string, values: readonly T[]): T => {
  const found = values.find((each) => each === value);
  if (found === undefined)
    throw fail('invalid_request', `${path} must be one of ${values.map((each) => `"${each}"`).join(', ')}`);
  return found;
};

export const checkText = (value: unknown, path: string, maxLength: number): string => {
  if (typeof value !== 'string') throw fail('invalid_request', `${path} must be a string`);
  if (isLonger(value, maxLength))
    throw fail('invalid_request', `${path} must have at most ${maxLength} characters`);
  return value;
};

/** In Unicode characters; most texts are far from the limit, and those far beyond it need no counting either. */
const isLonger = (text: string, maxLength: number): boolean => {
  if (text.length <= maxLength) return false;
  if (text.length > 2 * maxLength) return true;
  let characters = 0;
  for (const _ of text) characters++;
  return characters > maxLength;
};

const least = -(2n ** 63n);
const most = 2n ** 63n - 1n;

export const checkSeed = (value: unknown): bigint => {
  const seed = typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof seed === 'bigint' && seed >= least && seed <= most) return seed;
  throw fail(
    'invalid_request',
    typeof seed === 'bigint' || Number.isInteger(seed)
      ? `seed must be between ${least} and ${most}, written in digits`
      : 'seed must be an integer',
  );
};
