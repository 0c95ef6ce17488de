/** Quantities and prices in, money out, as exact decimals: no float ever touches an amount. */
import type { Model } from '../../schemas/catalog.ts';
import type { TokenUsage } from '../ports/chat.ts';
import { add, formatScaled, multiply, rescale, type Scaled, toScaled } from './decimal.ts';

/** How many, and what one costs. Whole quantities are numbers, others decimals as text. */
export type Item = readonly [quantity: number | string, price: string];

/** Digits after the point that an amount may have; events and ledgers hold all of them. */
const finest = 18;

/** Sum of quantity × price, without trailing zeros; below 10⁻¹⁸ dollars it is rounded half up. */
export const costOf = (items: readonly Item[]): string => {
  let sum: Scaled = { units: 0n, scale: 0 };
  for (const [quantity, price] of items) {
    if (quantity !== 0) sum = add(sum, multiply(toScaled(quantity), priceOf(price)));
  }
  return formatScaled(sum.scale > finest ? { units: rescale(sum, finest), scale: finest } : sum);
};

const prices = new Map<string, Scaled>();
/** More than catalogs have; they may change while we run. */
const mostPrices = 1000;

/** A few prices, met with every request, are read once. */
const priceOf = (price: string): Scaled => {
  const known = prices.get(price);
  if (known !== undefined) return known;
  if (prices.size >= mostPrices) prices.clear();
  const scaled = toScaled(price);
  prices.set(price, scaled);
  return scaled;
};

/** Cached prompt tokens and thinking tokens have their own price where the model names one. */
export const tokenCost = (usage: TokenUsage, pricing: Model['pricing']): string =>
  costOf([
    [Math.max(0, usage.prompt - usage.cached), pricing.prompt],
    [usage.cached, pricing.input_cache_read ?? pricing.prompt],
    [Math.max(0, usage.completion - usage.reasoning), pricing.completion],
    [usage.reasoning, pricing.internal_reasoning ?? pricing.completion],
  ]);

/** Sound made is priced by `completion`, sound read by `prompt`; the other half of either is 0. */
export const secondsCost = (seconds: number, pricing: Model['pricing']): string =>
  costOf([
    [seconds, pricing.prompt],
    [seconds, pricing.completion],
  ]);
