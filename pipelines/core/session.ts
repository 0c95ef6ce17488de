/** Finds the session that a request belongs to: in a header or a body field that the engine's row names. */
import type { SessionSource } from '../../schemas/engines.ts';
import type { Exchange, SessionHeader } from '../../src/ports/exchange.ts';

/** Characters; what follows does not tell sessions apart. */
const LONGEST = 256;

/** Undefined where there is none: the call is balanced by load alone. */
export const sessionOf = (
  { header, field }: SessionSource,
  body: unknown,
  exchange: Pick<Exchange, 'header'>,
): string | undefined => {
  const value = header === undefined ? valueAt(body, field ?? '') : exchange.header(header as SessionHeader);
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text !== '' ? text.slice(0, LONGEST) : undefined;
};

const valueAt = (body: unknown, path: string): unknown => {
  let value = body;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
};
