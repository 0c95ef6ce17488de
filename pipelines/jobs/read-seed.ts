/** Reads the seed of a render, of up to 64 bits: 400 names the field. */
import type { RenderCall } from '../../src/ports/engines/render.ts';
import { invalid } from '../core/checks.ts';
import type { Setting } from './render-settings.ts';

type Seed = RenderCall['seed'];

const least = -(2n ** 63n);
const most = 2n ** 63n - 1n;

/** A whole number, as JSON or as text. */
export const readSeed = ({ field, value }: Setting<unknown>): Seed | undefined => {
  if (value === undefined || value === null) return undefined;
  const seed = integerOf(value);
  if (seed === undefined) throw invalid(`${field} must be an integer`);
  // Clients whose numbers are floats write 2⁶³ for all that is next to it.
  if (Math.abs(Number(seed)) > 2 ** 63) throw invalid(`${field} must be between ${least} and ${most}`);
  return exact(seed > most ? most : seed < least ? least : seed);
};

const integerOf = (value: unknown): bigint | undefined => {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : undefined;
  return typeof value === 'string' && /^-?(?:0|[1-9]\d{0,18})$/.test(value) ? BigInt(value) : undefined;
};

/** Jobs are stored as JSON: what a number would round is kept as text. */
const exact = (seed: bigint): Seed => (Number.isSafeInteger(Number(seed)) ? Number(seed) : seed.toString());
