/** Makes a number that meets the keywords of a schema. */
import type { Random } from '../random.ts';
import { type Budget, Contradiction } from './budget.ts';
import type { Maker } from './flatten.ts';
import type { Keywords } from './keywords.ts';
import { isNumeric } from './strings.ts';

/** Steps to choose from where an end is open: numbers stay small enough to read. */
const span = 100;

interface Range {
  readonly low: number;
  readonly high: number;
  contains(value: number): boolean;
}

export function makeNumber(keywords: Keywords, whole: boolean, { words, random, budget }: Maker): number {
  const range = rangeOf(keywords);
  const step = stepOf(keywords.multipleOf, whole, budget);
  const hint = words.hints.findIndex(
    (one) => isNumeric(one) && range.contains(Number(one)) && Number.isInteger(Number(one) / step),
  );
  if (hint !== -1) return Number(words.hints.splice(hint, 1)[0]);
  const value = onGrid(range, step, random);
  if (value !== undefined) return value;
  const middle = (range.low + range.high) / 2;
  if (whole || keywords.multipleOf !== undefined || !range.contains(middle)) {
    throw new Contradiction('leaves no number between its bounds');
  }
  return middle;
}

function rangeOf(keywords: Keywords): Range {
  const { minimum = Number.NEGATIVE_INFINITY, exclusiveMinimum = Number.NEGATIVE_INFINITY } = keywords;
  const { maximum = Number.POSITIVE_INFINITY, exclusiveMaximum = Number.POSITIVE_INFINITY } = keywords;
  return {
    low: Math.max(minimum, exclusiveMinimum),
    high: Math.min(maximum, exclusiveMaximum),
    contains: (value) =>
      value >= minimum && value <= maximum && value > exclusiveMinimum && value < exclusiveMaximum,
  };
}

/** Halves by default; for whole numbers the smallest whole multiple of the step. */
function stepOf(multipleOf: number | undefined, whole: boolean, budget: Budget): number {
  const step = multipleOf !== undefined && multipleOf > 0 ? multipleOf : whole ? 1 : 0.5;
  if (!whole || Number.isInteger(step)) return step;
  for (let times = 2; times <= 1000; times += 1) {
    budget.spend(2);
    if (Number.isInteger(tidy(step * times))) return tidy(step * times);
  }
  throw new Contradiction('leaves no whole number among its multiples');
}

function onGrid(range: Range, step: number, random: Random): number | undefined {
  const lowest = Number.isFinite(range.low) ? Math.ceil(range.low / step) : undefined;
  const highest = Number.isFinite(range.high) ? Math.floor(range.high / step) : undefined;
  const from = lowest ?? (highest === undefined ? 0 : highest - span);
  const to = Math.min(highest ?? Number.POSITIVE_INFINITY, from + span);
  if (from > to) return undefined;
  const at = random.integer(from, to);
  // The ends themselves may be excluded: one of these is inside if any is.
  const candidates = [at, from, from + 1, to, to - 1].map((times) => tidy(times * step));
  return candidates.find((value) => range.contains(value));
}

/** Without the dust of binary fractions: 0.3 and not 0.30000000000000004. */
const tidy = (value: number): number => (Number.isInteger(value) ? value : Number(value.toPrecision(12)));
