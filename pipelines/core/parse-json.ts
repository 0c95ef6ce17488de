/** Receives and parses JSON bodies: a 400 says what is wrong and where. */
import { isUtf8 } from 'node:buffer';
import { catchError, map, type Observable } from 'rxjs';
import { type ErrorKind, fail } from '../../src/errors.ts';
import { notUtf8, parseJson as parseWide } from '../../src/offload/parse-json.ts';
import type { Caller, Exchange } from '../../src/ports/exchange.ts';
import { type Offload, offloaded } from '../../src/ports/offload.ts';
import type { Shared } from '../../src/ports/shared.ts';
import { jsonFault } from './json-fault.ts';
import type { Step } from './stage.ts';

export type JsonObject = Record<string, unknown>;

/** Bodies beyond this many bytes are parsed on another thread. */
const offloadBytes = 256 * 1024;
const maxDepth = 64;

interface ParsedFor {
  readonly exchange: Pick<Exchange, 'header'>;
  readonly caller: Caller;
}

type Parser = Shared<Pick<Offload, 'parseJson'>>;

/** Receives the body: 400 for one that is not JSON by its type, 413 for one that is too large. */
export const receiveJson =
  (kind: ErrorKind = 'invalid_request'): Step<Exchange, Buffer, unknown> =>
  (exchange) => {
    const { body } = exchange;
    const type = exchange.header('content-type');
    if (!isJsonType(type)) throw wrongType(kind, type);
    return body.whole(body.length !== undefined && body.length <= offloadBytes);
  };

/**
 * Parses the body, on another thread when it is large. `kind` is the error of a body that cannot be parsed. The integer
 * under `wideKey` is a bigint where a number would lose digits.
 */
export const parseJson =
  (
    offload: Parser,
    kind: ErrorKind = 'invalid_request',
    wideKey?: string,
  ): Step<Buffer, JsonObject, ParsedFor> =>
  (bytes, { exchange, caller }) =>
    bytes.length <= offloadBytes
      ? parseBytes(bytes, exchange, kind, wideKey)
      : parseElsewhere(offload.for(caller.subscription), bytes, exchange, kind, wideKey);

const isJsonType = (type: string): boolean =>
  type === 'application/json' || /^\s*[\w.+-]+\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type);

const wrongType = (kind: ErrorKind, type: string) =>
  fail(
    kind,
    type === ''
      ? 'content-type must be application/json, but none was sent'
      : `content-type must be application/json, not ${JSON.stringify(type.slice(0, 100))}`,
  );

const parseBytes = (
  bytes: Buffer,
  exchange: Pick<Exchange, 'header'>,
  kind: ErrorKind,
  wideKey?: string,
): JsonObject => {
  if (bytes.length === 0) throw fail(kind, 'The request body is empty; a JSON object is expected');
  if (!isUtf8(bytes)) throw notText(exchange, kind);
  const text = bytes.toString();
  let value: unknown;
  try {
    value = parseText(text);
  } catch {
    throw fail(kind, `The request body is not valid JSON: ${jsonFault(withoutMark(text))}`);
  }
  const object = checked(value, kind);
  return wideKey !== undefined && isRounded(object[wideKey])
    ? checked(parseWide(bytes, wideBounds, wideKey).value, kind)
    : object;
};

const byteOrderMark = '\ufeff';

const withoutMark = (text: string): string => (text.startsWith(byteOrderMark) ? text.slice(1) : text);

/** Some clients write a byte order mark before JSON. Throws a SyntaxError. */
export const parseText = (text: string): unknown => JSON.parse(withoutMark(text));

const isRounded = (value: unknown): boolean => typeof value === 'number' && !Number.isSafeInteger(value);

/** The body is small, and was parsed once already. */
const wideBounds = {
  maxText: offloadBytes,
  maxValues: offloadBytes,
  maxMembers: offloadBytes,
  maxStrings: offloadBytes,
  maxDepth: maxDepth + 1,
};

/** Compressed bodies, which we do not take, are never UTF-8. */
const notText = (exchange: Pick<Exchange, 'header'>, kind: ErrorKind) => {
  const coding = exchange.header('content-encoding');
  return fail(kind, coding === '' ? notUtf8 : `content-encoding ${coding.slice(0, 100)} is not supported`);
};

const parseElsewhere = (
  offload: Pick<Offload, 'parseJson'>,
  bytes: Buffer,
  exchange: Pick<Exchange, 'header'>,
  kind: ErrorKind,
  wideKey: string | undefined,
): Observable<JsonObject> => {
  return offloaded((signal) => offload.parseJson(bytes, signal, wideKey)).pipe(
    catchError((error: unknown) => {
      if (error instanceof Error && error.message === notUtf8) throw notText(exchange, kind);
      if (!(error instanceof SyntaxError)) throw error;
      throw fail(kind, `The request body is not valid JSON: ${error.message}`);
    }),
    map((value) => checked(value, kind)),
  );
};

const checked = (value: unknown, kind: ErrorKind): JsonObject => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw fail(kind, `The request body must be a JSON object, not ${nameOf(value)}`);
  if (!sanitize(value, maxDepth))
    throw fail(kind, `The request body is nested more than ${maxDepth} levels deep`);
  return value as JsonObject;
};

/** False when nested too deep. Drops `__proto__` keys on the way: harmless as parsed, harmful once copied. */
const sanitize = (value: object, levels: number): boolean => {
  if (levels === 0) return false;
  // The other thread returns long base64 as bytes.
  if (ArrayBuffer.isView(value)) return true;
  if (Array.isArray(value)) {
    for (const item of value)
      if (typeof item === 'object' && item !== null && !sanitize(item, levels - 1)) return false;
    return true;
  }
  const object = value as JsonObject;
  for (const key in object) {
    const item = object[key];
    if (key === '__proto__') delete object[key];
    else if (typeof item === 'object' && item !== null && !sanitize(item, levels - 1)) return false;
  }
  return true;
};

const nameOf = (value: unknown): string => {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
};

/**
 * Free-form JSON of a request, to be sent on: puts long base64, which the parser of large bodies returns as bytes, back
 * as text. Changes the value in place.
 */
export const freeJson = <T>(value: T): T => textOf(value) as T;

const textOf = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  const members = value as Record<string, unknown>;
  for (const name in members) {
    const member = members[name];
    if (typeof member !== 'object' || member === null) continue;
    const text = textOf(member);
    if (text !== member) Object.defineProperty(members, name, { value: text });
  }
  return value;
};
