/** Handles request fields that a format does not have: the engine is sent them, or they are refused or ignored. */
import type { Model } from '../../schemas/catalog.ts';
import { ChatRequest } from '../../schemas/chat/request.ts';
import { CompletionFields } from '../../schemas/completions.ts';
import { type ApiError, type ErrorKind, fail } from '../../src/errors.ts';
import type { Forwarded } from '../../src/ports/engines/chat.ts';
import { freeJson } from '../core/parse-json.ts';
import { type Instead, isNothing, serverFields } from './server-fields.ts';

/** Throws where a value would change the answer and cannot be honoured. */
export type Refuse = (value: unknown, field: string) => void;

export interface Dialect {
  /** Names that its reader knows. */
  readonly own: ReadonlySet<string>;
  /** Refused whatever the engine takes. */
  readonly refused: ReadonlyMap<string, Refuse>;
  /** Refused where the engine is not sent them. */
  readonly servers: ReadonlyMap<string, Refuse>;
}

interface DialectFields {
  readonly own: Iterable<string>;
  readonly refused: Readonly<Record<string, Refuse>>;
  readonly instead?: Instead;
}

/** The table of a format; built once. */
export const dialect = ({ own, refused, instead = {} }: DialectFields): Dialect => ({
  own: new Set(own),
  refused: new Map(Object.entries(refused)),
  servers: new Map(
    Object.entries(serverFields(instead)).map(([name, [why, harmless]]) => [name, refusal(why, harmless)]),
  ),
});

export const namesOf = ({ properties }: { readonly properties: object }): readonly string[] =>
  Object.keys(properties);

/** `why` follows the words; `harmless` values change nothing, by default those that are empty. */
export const refusal =
  (why = '', harmless: (value: unknown) => boolean = isNothing, kind?: ErrorKind): Refuse =>
  (value, field) => {
    if (!harmless(value)) throw unsupported(field, why, kind);
  };

export const unsupported = (
  field: string,
  why: string,
  kind: ErrorKind = 'unsupported_parameter',
): ApiError => fail(kind, `${field} is not supported${why}`);

/** Only what no engine changes: for formats where it has to be said before the request is validated. */
export const refuseFields = ({ refused }: Dialect, body: Readonly<Record<string, unknown>>): void => {
  // By what was sent, which is little.
  for (const name in body) {
    const value = body[name];
    if (value !== null) refused.get(name)?.(value, name);
  }
};

/** What the engine is sent as it came; undefined for nothing. Throws a 400 that names what is refused. */
export const readOtherFields = (
  { own, refused, servers }: Dialect,
  body: object,
  model: Model,
): Forwarded | undefined => {
  let forwarded: Record<string, unknown> | undefined;
  for (const name in body) {
    if (own.has(name)) continue;
    const value = (body as Record<string, unknown>)[name];
    if (value === undefined || value === null) continue;
    const never = refused.get(name);
    if (never !== undefined) never(value, name);
    else if (takes(model, name)) {
      forwarded ??= {};
      forwarded[name] = freeJson(value);
    } else servers.get(name)?.(value, name);
  }
  return forwarded;
};

/** Names that wires write: a client's value beside the gateway's own would count. */
const written: ReadonlySet<string> = new Set([...namesOf(ChatRequest), ...namesOf(CompletionFields)]);

const takes = ({ forward }: Model, name: string): boolean => {
  if (forward === undefined || written.has(name)) return false;
  const names = namesIn(forward);
  return names.has(name) || names.has('*');
};

/** By the catalog's own objects: a row that is read again is another. */
const known = new WeakMap<readonly string[], ReadonlySet<string>>();

const namesIn = (forward: readonly string[]): ReadonlySet<string> => {
  const found = known.get(forward);
  if (found !== undefined) return found;
  const names = new Set(forward);
  known.set(forward, names);
  return names;
};
