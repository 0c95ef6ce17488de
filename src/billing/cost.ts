/** Computes costs from quantities and prices as exact decimals, without floats. */
import type { Model } from '../../schemas/catalog.ts';
import { add, formatScaled, multiply, rescale, type Scaled, toScaled } from '../helpers/decimal.ts';
import { remembered } from '../helpers/remembered.ts';
import type { TokenUsage } from '../ports/engines/chat.ts';

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

/** More than catalogs have; they may change while we run. */
const mostPrices = 1000;

/** A few prices, met with every request, are read once. */
const priceOf = remembered<string, Scaled>(mostPrices, toScaled);

type TokenPrices = readonly [prompt: string, cached: string, completion: string, reasoning: string];

/** Cached prompt tokens and thinking tokens have their own price where the model names one. */
const tokenPrices = (pricing: Model['pricing']): TokenPrices => [
  pricing.prompt,
  pricing.input_cache_read ?? pricing.prompt,
  pricing.completion,
  pricing.internal_reasoning ?? pricing.completion,
];

export const tokenCost = (
  { prompt, cached, completion, reasoning }: TokenUsage,
  pricing: Model['pricing'],
): string => {
  const fresh = Math.max(0, prompt - cached);
  const said = Math.max(0, completion - reasoning);
  const whole = wholePrices(pricing);
  if (whole !== 'too fine') {
    const [promptUnits, cachedUnits, completionUnits, reasoningUnits] = whole.units;
    const units =
      fresh * promptUnits + cached * cachedUnits + said * completionUnits + reasoning * reasoningUnits;
    if (units < exactBelow) return formatScaled({ units, scale: whole.scale });
  }
  const prices = tokenPrices(pricing);
  return costOf([
    [fresh, prices[0]],
    [cached, prices[1]],
    [said, prices[2]],
    [reasoning, prices[3]],
  ]);
};

/** The most that so many tokens can cost, cached or not, thought or said. */
export const mostTokenCost = (prompt: number, completion: number, pricing: Model['pricing']): string =>
  tokenCost(
    {
      prompt,
      cached: isDearer(pricing.input_cache_read, pricing.prompt) ? prompt : 0,
      completion,
      reasoning: isDearer(pricing.internal_reasoning, pricing.completion) ? completion : 0,
    },
    pricing,
  );

const isDearer = (price: string | undefined, other: string): boolean =>
  price !== undefined && Number(price) > Number(other);

/** Whole numbers below it, and sums of them that stay below it, are exact. */
const exactBelow = 2 ** 52;

/** The prices of tokens in one small unit; a number holds such units of most requests exactly, for a third of the work. */
interface WholePrices {
  readonly units: readonly [prompt: number, cached: number, completion: number, reasoning: number];
  readonly scale: number;
}

/** By the catalog's own objects: a row that is read again is another. */
const knownPrices = new WeakMap<Model['pricing'], WholePrices | 'too fine'>();

const wholePrices = (pricing: Model['pricing']): WholePrices | 'too fine' => {
  const known = knownPrices.get(pricing);
  if (known !== undefined) return known;
  const read = readWholePrices(tokenPrices(pricing));
  knownPrices.set(pricing, read);
  return read;
};

const readWholePrices = (prices: TokenPrices): WholePrices | 'too fine' => {
  const scaled = prices.map(toScaled);
  const scale = Math.max(...scaled.map((price) => price.scale));
  const [prompt = 0, cached = 0, completion = 0, reasoning = 0] = scaled.map((price) =>
    Number(rescale(price, scale)),
  );
  return scale > finest ? 'too fine' : { units: [prompt, cached, completion, reasoning], scale };
};

/** Sound made is priced by `completion`, sound read by `prompt`; the other half of either is 0. */
export const secondsCost = (seconds: number, pricing: Model['pricing']): string =>
  costOf([
    [seconds, pricing.prompt],
    [seconds, pricing.completion],
  ]);
