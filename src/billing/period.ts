/** Parses times as people and programs write them into Unix milliseconds. */

const day = 86_400_000;
const date = /^\d{4}-\d{2}-\d{2}$/;
const moment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;

/** What `readTime` takes, for messages. */
export const timeForms = 'a date (2026-11-01), a time with its zone (2026-11-01T12:00:00Z) or Unix seconds';

/** Undefined for anything else. A date is its first moment in universal time. */
export const readTime = (text: string): number | undefined => {
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  if (!date.test(text) && !moment.test(text)) return undefined;
  const time = Date.parse(text);
  const midnight = Date.parse(text.slice(0, 10));
  if (Number.isNaN(time) || time < 0 || Number.isNaN(midnight)) return undefined;
  // The thirtieth of February would become the second of March.
  return new Date(midnight).toISOString().startsWith(text.slice(0, 10)) ? time : undefined;
};

/** This month, to the end of today: whole days are the cheapest to sum up. */
export const currentMonth = (now: number): { from: number; to: number } => {
  const today = new Date(now);
  return {
    from: Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), 1),
    to: (Math.floor(now / day) + 1) * day,
  };
};
