/** Periods and their hours, days or months, all in universal time as the ledger counts them. */

export type Unit = 'hour' | 'day' | 'month';

export interface Period {
  /** Unix seconds. */
  readonly from: number;
  /** The first moment after. */
  readonly to: number;
}

const hour = 3_600;
const day = 24 * hour;
/** That the API takes by the hour. */
export const mostHourlyDays = 31;
/** The most bars that are still distinguishable. */
export const mostBuckets = 800;

export const ranges = [
  { value: '24h', label: 'last 24 hours' },
  { value: '7d', label: 'last 7 days' },
  { value: '30d', label: 'last 30 days' },
  { value: 'month', label: 'this month' },
  { value: 'last-month', label: 'last month' },
  { value: 'year', label: 'last 12 months' },
  { value: 'custom', label: 'from … to …' },
] as const;
export type Range = (typeof ranges)[number]['value'];

const monthStart = (now: Date, offset: number): number =>
  Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1) / 1000;

/** Up to the end of the current hour or day: its usage grows. */
export const periodOf = (range: Exclude<Range, 'custom'>, now: Date): Period => {
  const seconds = now.getTime() / 1000;
  const tomorrow = (Math.floor(seconds / day) + 1) * day;
  const nextHour = (Math.floor(seconds / hour) + 1) * hour;
  switch (range) {
    case '24h':
      return { from: nextHour - day, to: nextHour };
    case '7d':
      return { from: tomorrow - 7 * day, to: tomorrow };
    case '30d':
      return { from: tomorrow - 30 * day, to: tomorrow };
    case 'month':
      return { from: monthStart(now, 0), to: tomorrow };
    case 'last-month':
      return { from: monthStart(now, -1), to: monthStart(now, 0) };
    case 'year':
      return { from: monthStart(now, -11), to: tomorrow };
  }
};

/** Of two dates (`2026-11-16`), both included; undefined where they are none. */
export const customPeriod = (first: string, last: string): Period | undefined => {
  const from = Date.parse(`${first}T00:00:00Z`) / 1000;
  const to = Date.parse(`${last}T00:00:00Z`) / 1000 + day;
  return Number.isFinite(from) && Number.isFinite(to) && from < to ? { from, to } : undefined;
};

export const dateText = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10);

export const unitsOf = ({ from, to }: Period): readonly Unit[] =>
  to - from > mostHourlyDays * day ? ['day', 'month'] : ['hour', 'day', 'month'];

/** What suits the length of a period. */
export const usualUnit = ({ from, to }: Period): Unit =>
  to - from <= 2 * day ? 'hour' : to - from <= 62 * day ? 'day' : 'month';

/** Unix seconds of a `day`, an `hour` or a `month` of a row. */
export const startOf = (bucket: string): number =>
  Date.parse(bucket.length === 7 ? `${bucket}-01` : bucket) / 1000;

/** Starts of all of them, those without usage too. */
export const bucketsOf = ({ from, to }: Period, unit: Unit): readonly number[] => {
  const starts: number[] = [];
  if (unit === 'month') {
    for (let offset = 0; starts.length < mostBuckets; offset++) {
      const start = monthStart(new Date(from * 1000), offset);
      if (start >= to) break;
      starts.push(start);
    }
    return starts;
  }
  const step = unit === 'hour' ? hour : day;
  for (let at = Math.floor(from / step) * step; at < to && starts.length < mostBuckets; at += step)
    starts.push(at);
  return starts;
};
