/** Headers of every response, and cached status lines. */
import { STATUS_CODES } from 'node:http';
import { allowOrigin, exposedHeaders } from '../cors.ts';

export const corsHeaders = [
  ['access-control-allow-origin', allowOrigin],
  ['access-control-expose-headers', exposedHeaders],
] as const;

export const reasonPhrase = (status: number): string =>
  STATUS_CODES[status] ?? (status === 529 ? 'Overloaded' : 'Unknown');

const lines = new Map<number, string>();

/** `200 OK` */
export const statusLine = (status: number): string => {
  const known = lines.get(status);
  if (known !== undefined) return known;
  const line = `${status} ${reasonPhrase(status)}`;
  lines.set(status, line);
  return line;
};

const unprintable = /[^\t -~]/;

/** A header value that cannot break its line, and that every server accepts. */
export const headerValue = (value: string): string =>
  unprintable.test(value) ? value.replace(/[^\t -~]/g, '?') : value;
