/** Exact decimal arithmetic on whole numbers of a small unit. */

export interface Scaled {
  readonly units: bigint;
  /** Digits after the point. */
  readonly scale: number;
}

export const toScaled = (value: number | string): Scaled => {
  if (typeof value === 'number') return { units: BigInt(value), scale: 0 };
  const point = value.indexOf('.');
  if (point === -1) return { units: BigInt(value), scale: 0 };
  return { units: BigInt(value.slice(0, point) + value.slice(point + 1)), scale: value.length - point - 1 };
};

export const multiply = (a: Scaled, b: Scaled): Scaled => ({
  units: a.units * b.units,
  scale: a.scale + b.scale,
});

export const add = (a: Scaled, b: Scaled): Scaled => {
  const scale = Math.max(a.scale, b.scale);
  return { units: rescale(a, scale) + rescale(b, scale), scale };
};

/** Whole units of 10^-scale; what lies below is rounded half up. */
export const rescale = ({ units, scale }: Scaled, to: number): bigint => {
  if (to >= scale) return to === scale ? units : units * powerOfTen(to - scale);
  const step = powerOfTen(scale - to);
  return (units + step / 2n) / step;
};

/** Raising one takes longer than all the rest, and few are ever asked for. */
const powers = Array.from({ length: 32 }, (_, exponent) => 10n ** BigInt(exponent));

const powerOfTen = (exponent: number): bigint => powers[exponent] ?? 10n ** BigInt(exponent);

/** Without trailing zeros. Units may be a number where that is exact. */
export const formatScaled = ({ units, scale }: { units: bigint | number; scale: number }): string => {
  if (scale === 0) return units.toString();
  const digits = units.toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, -scale);
  const fraction = digits.slice(-scale).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
};

const nanoDigits = 9;
const point = 46;
const zero = 48;

/**
 * Billionths of a dollar, rounded up: what is counted is never less than what was spent. Exact up to 9,007,199 dollars.
 * Digit by digit: it is done twice for every request that is limited, and makes no strings.
 */
export const nanodollars = (cost: string): number => {
  let amount = 0;
  let places = -1;
  let rest = 0;
  for (let at = 0; at < cost.length; at++) {
    const code = cost.charCodeAt(at);
    if (code === point) places = 0;
    else if (places === nanoDigits) rest ||= code === zero ? 0 : 1;
    else {
      amount = amount * 10 + (code - zero);
      if (places >= 0) places++;
    }
  }
  return Math.min(amount * 10 ** (nanoDigits - Math.max(0, places)) + rest, Number.MAX_SAFE_INTEGER);
};

/** Of billionths of them; less than none is none. */
export const dollars = (nanodollars: number): string =>
  formatScaled({ units: Math.max(0, nanodollars), scale: nanoDigits });
