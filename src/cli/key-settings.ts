/** Options that set what a key may be used for, and how their values are read. */
import type { KeyChanges } from '../keys/settings.ts';
import { type Input, type Option, UsageError } from './command.ts';
import { limitOptions, readNumbers } from './limit-numbers.ts';

export const keySettings: Readonly<Record<string, Option>> = {
  name: { value: 'NAME', help: 'what to call it in lists' },
  expires: { value: 'TIME', help: 'refuse it from then on: 2027-01-31, 2027-01-31T12:00:00Z, 12h or 30d' },
  models: { value: 'LIST', help: 'only these models: openai/gpt-oss-20b,acme/*' },
  routes: { value: 'LIST', help: "only these routes: 'POST /chat/completions,/embeddings'" },
  networks: { value: 'LIST', help: 'only from these addresses: 10.0.0.0/8,192.0.2.7' },
  tags: { value: 'LIST', help: 'words to tell keys apart by' },
  metadata: { value: 'JSON', help: `texts of your own: '{"owner":"ops"}'` },
  ...limitOptions,
};

/** Those that were given; null: removed. */
export const readChanges = (input: Input): KeyChanges => {
  const changes: Record<string, unknown> = {};
  const read = (name: string, parse: (text: string) => unknown): void => {
    const text = input.text(name);
    if (text !== undefined) changes[name] = text === '' && name !== 'name' ? null : parse(text);
  };
  const items = (text: string): readonly string[] => text.split(',').map((item) => item.trim());
  for (const name of ['models', 'routes', 'networks', 'tags']) read(name, items);
  read('name', (text) => text);
  read('expires', timeOf);
  read('metadata', metadataOf);
  const limits = readNumbers(input, true);
  if (Object.keys(limits).length > 0) changes.limits = limits;
  return changes;
};

/** Unix seconds of a date, or of a duration from now. */
const timeOf = (text: string): number => {
  if (duration.test(text)) return Math.floor(Date.now() / 1000) + secondsOf('expires', text);
  const time = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?Z)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time))
    throw new UsageError(`--expires takes a date such as 2027-01-31 or a time such as 30d, not "${text}"`);
  return Math.floor(time / 1000);
};

const duration = /^(\d{1,5})([smhd])$/;
const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Of `90m`, `24h`, `7d`. */
export const secondsOf = (name: string, text: string): number => {
  const [, count, unit = ''] = duration.exec(text) ?? [];
  if (count === undefined)
    throw new UsageError(`--${name} takes a time such as 90m, 24h or 7d, not "${text}"`);
  return Number(count) * (unitSeconds[unit] ?? 0);
};

const metadataOf = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Said below.
  }
  throw new UsageError(`--metadata takes a JSON object such as '{"owner":"ops"}'`);
};
