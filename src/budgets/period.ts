/** Finds the day, week or month of a time zone that a moment lies in. */
import type { BudgetPeriod } from '../../schemas/budgets.ts';
import { remembered } from '../helpers/remembered.ts';

/** Unix milliseconds; it ends before `end`, or never. */
export interface PeriodSpan {
  readonly start: number;
  readonly end: number | undefined;
}

interface LocalDate {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  readonly day: number;
}

const dayMs = 86_400_000;

/** `created`: Unix milliseconds from which on a budget counts that never resets. */
export const periodAt = (
  period: BudgetPeriod,
  timeZone: string,
  now: number,
  created: number,
): PeriodSpan => {
  if (period === 'total') return { start: created, end: undefined };
  const { year, month, day } = localTime(timeZone, now);
  const startOf = (month: number, day: number): number => dayStart(timeZone, normalized(year, month, day));
  switch (period) {
    case 'day':
      return { start: startOf(month, day), end: startOf(month, day + 1) };
    case 'week': {
      const monday = day - ((new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 6) % 7);
      return { start: startOf(month, monday), end: startOf(month, monday + 7) };
    }
    case 'month':
      return { start: startOf(month, 1), end: startOf(month + 1, 1) };
  }
};

export const isTimeZone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
};

/** The thirty-second of December is the first of January. */
const normalized = (year: number, month: number, day: number): LocalDate => {
  const date = new Date(Date.UTC(year, month - 1, day));
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
};

/**
 * The first moment of a date. Clocks may be set at midnight: it may exist twice, or not at all, and so may a whole day.
 * Offsets a day before and after are those before and after the change.
 */
const dayStart = (timeZone: string, date: LocalDate): number => {
  const midnight = Date.UTC(date.year, date.month - 1, date.day);
  const candidates = [midnight - dayMs, midnight + dayMs]
    .map((near) => midnight - localTime(timeZone, near).offset)
    .sort((one, other) => one - other);
  return (
    candidates.find((moment) => {
      const { year, month, day } = localTime(timeZone, moment);
      return Date.UTC(year, month - 1, day) >= midnight;
    }) ?? midnight
  );
};

interface LocalTime extends LocalDate {
  /** Milliseconds that clocks are ahead of universal time. */
  readonly offset: number;
}

const localTime = (timeZone: string, moment: number): LocalTime => {
  const found: Record<string, number> = {};
  for (const { type, value } of formatOf(timeZone).formatToParts(moment)) found[type] = Number(value);
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = found;
  const shown = Date.UTC(year, month - 1, day, hour, minute, second);
  return { year, month, day, offset: shown - Math.floor(moment / 1000) * 1000 };
};

/** More than there are. */
const mostZones = 1000;

/** Making one takes a hundred times as long as using it. */
const formatOf = remembered<string, Intl.DateTimeFormat>(
  mostZones,
  (timeZone) =>
    new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    }),
);
