/** Converts decimal amounts of US dollars into whole billionths, which allowances count, and back. */
import { formatScaled } from './decimal.ts';

const perDollar = 1_000_000_000;
const digits = 9;

/** Rounded up, so that what is counted is never less than what was spent; at most 2⁵³ − 1. */
export const nanodollars = (dollars: string): number => {
  const point = dollars.indexOf('.');
  if (point === -1) return bounded(Number(dollars) * perDollar);
  const fraction = dollars.slice(point + 1);
  const counted = Number(fraction.slice(0, digits).padEnd(digits, '0'));
  const rest = fraction.length > digits && Number(fraction.slice(digits)) > 0 ? 1 : 0;
  return bounded(Number(dollars.slice(0, point)) * perDollar + counted + rest);
};

const bounded = (amount: number): number => Math.min(amount, Number.MAX_SAFE_INTEGER);

export const dollars = (nanodollars: number): string =>
  formatScaled({ units: Math.max(0, nanodollars), scale: digits });
