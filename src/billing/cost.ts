/** Quantities and prices in, money out, as exact decimals: no float ever touches an amount. */
import type { Model } from '../../schemas/catalog.ts';
import type { TokenUsage } from '../ports/chat.ts';

/** How many, and what one costs. Whole quantities are numbers, others decimals as text. */
export type Item = readonly [quantity: number | string, price: string];

interface Amount {
  readonly units: bigint;
  /** Digits after the point. */
  readonly scale: number;
}

/** Sum of quantity × price, without trailing zeros. */
export const costOf = (items: readonly Item[]): string => {
  let sum: Amount = { units: 0n, scale: 0 };
  for (const [quantity, price] of items) {
    if (quantity !== 0) sum = add(sum, multiply(amount(quantity), amount(price)));
  }
  return write(sum);
};

/** Cached prompt tokens and thinking tokens have their own price where the model names one. */
export const tokenCost = (usage: TokenUsage, pricing: Model['pricing']): string =>
  costOf([
    [Math.max(0, usage.prompt - usage.cached), pricing.prompt],
    [usage.cached, pricing.input_cache_read ?? pricing.prompt],
    [Math.max(0, usage.completion - usage.reasoning), pricing.completion],
    [usage.reasoning, pricing.internal_reasoning ?? pricing.completion],
  ]);

const amount = (value: number | string): Amount => {
  if (typeof value === 'number') return { units: BigInt(value), scale: 0 };
  const point = value.indexOf('.');
  if (point === -1) return { units: BigInt(value), scale: 0 };
  return { units: BigInt(value.slice(0, point) + value.slice(point + 1)), scale: value.length - point - 1 };
};

const multiply = (a: Amount, b: Amount): Amount => ({ units: a.units * b.units, scale: a.scale + b.scale });

const add = (a: Amount, b: Amount): Amount => {
  const scale = Math.max(a.scale, b.scale);
  return { units: rescale(a, scale) + rescale(b, scale), scale };
};

const rescale = ({ units, scale }: Amount, to: number): bigint =>
  to === scale ? units : units * 10n ** BigInt(to - scale);

const write = ({ units, scale }: Amount): string => {
  if (scale === 0) return units.toString();
  const digits = units.toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, -scale);
  const fraction = digits.slice(-scale).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
};
