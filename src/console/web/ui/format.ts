/** Writes numbers, times, sizes and prices for people. */

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const small = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

export const count = (value: number): string => whole.format(value);

/** `12.3K` */
export const compact = (value: number): string => short.format(value);

/** Dollars; as many digits as a small price needs. */
export const money = (value: number | string): string => {
  const amount = Number(value);
  if (amount === 0) return '$0';
  if (Math.abs(amount) >= 1) return `$${amount.toFixed(2)}`;
  const text = String(Number(amount.toPrecision(3)));
  // Not `$0.3`, and not `$1e-7`.
  return `$${/^-?0\.\d$/.test(text) ? `${text}0` : text.includes('e') ? small.format(amount) : text}`;
};

export const bytes = (value: number): string => {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  const power = value < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(value) / 3));
  const amount = value / 1000 ** power;
  return `${amount >= 100 || power === 0 ? amount.toFixed(0) : amount.toFixed(1)} ${units[power]}`;
};

export const duration = (milliseconds: number): string => {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  if (milliseconds < 3_600_000)
    return `${Math.floor(milliseconds / 60_000)} min ${Math.floor((milliseconds % 60_000) / 1_000)} s`;
  return `${Math.floor(milliseconds / 3_600_000)} h ${Math.floor((milliseconds % 3_600_000) / 60_000)} min`;
};

export const percent = (share: number): string =>
  `${(share * 100).toFixed(share < 0.1 && share > 0 ? 1 : 0)} %`;

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const full = new Intl.DateTimeFormat('en-GB', {
  ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' },
});

/** In the visitor's time zone. */
export const time = (at: Date | number | string): string => clock.format(new Date(at));
export const dateTime = (at: Date | number | string): string => full.format(new Date(at));
