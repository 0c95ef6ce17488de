/** The settings of a key as text in a form, and the changes that the form makes. */
import type { LimitKind } from '../../../../../schemas/limits.ts';
import { FieldError } from '../../ui/field-error.ts';
import { type AdminKey, limitKinds } from './records.ts';

export type LimitDraft = Readonly<Record<LimitKind, string>>;

export interface KeyDraft {
  readonly name: string;
  /** As an input of type `datetime-local` has it, in the visitor's time zone. */
  readonly expires: string;
  /** One in a line. */
  readonly models: string;
  readonly routes: string;
  readonly networks: string;
  readonly tags: string;
  /** JSON. */
  readonly metadata: string;
  readonly limits: LimitDraft;
}

/** Names of the fields in the API. */
export const keyFields = [
  ...['subscription', 'name', 'expires', 'models', 'routes', 'networks', 'tags', 'metadata'],
  ...limitKinds.map((kind) => `limits.${kind}`),
];

const lists = ['models', 'routes', 'networks', 'tags'] as const;

export const limitDraft = (limits: AdminKey['limits'] = {}): LimitDraft =>
  Object.fromEntries(limitKinds.map((kind) => [kind, String(limits[kind] ?? '')])) as Record<
    LimitKind,
    string
  >;

export const draftOf = (key?: AdminKey): KeyDraft => ({
  name: key?.name ?? '',
  expires: key?.expires === undefined ? '' : localTime(key.expires * 1000),
  models: (key?.models ?? []).join('\n'),
  routes: (key?.routes ?? []).join('\n'),
  networks: (key?.networks ?? []).join('\n'),
  tags: (key?.tags ?? []).join('\n'),
  metadata: key?.metadata === undefined ? '' : JSON.stringify(key.metadata, undefined, 2),
  limits: limitDraft(key?.limits),
});

/** What differs, as the API takes it; null: the setting is removed. Throws a `FieldError`. */
export const changesOf = (before: KeyDraft, after: KeyDraft): Readonly<Record<string, unknown>> => {
  const changes: Record<string, unknown> = {};
  if (after.name !== before.name) changes.name = after.name;
  if (after.expires !== before.expires) changes.expires = secondsOf(after.expires);
  for (const name of lists) if (after[name] !== before[name]) changes[name] = linesOf(after[name]);
  if (after.metadata !== before.metadata) changes.metadata = objectOf(after.metadata);
  const limits = limitChanges(before.limits, after.limits);
  if (Object.keys(limits).length > 0) changes.limits = limits;
  return changes;
};

export const limitChanges = (
  before: LimitDraft,
  after: LimitDraft,
): Readonly<Record<string, number | null>> =>
  Object.fromEntries(
    limitKinds
      .filter((kind) => after[kind] !== before[kind])
      .map((kind) => [kind, after[kind] === '' ? null : Number(after[kind])]),
  );

const linesOf = (text: string): readonly string[] | null => {
  const lines = text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines.length === 0 ? null : lines;
};

const secondsOf = (text: string): number | null => {
  if (text === '') return null;
  const time = new Date(text).getTime();
  if (Number.isNaN(time)) throw new FieldError('expires', 'expires must be a date and a time');
  return Math.floor(time / 1000);
};

const objectOf = (text: string): unknown => {
  if (text.trim() === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new FieldError('metadata', 'metadata must be JSON: {"name": "text"}');
  }
};

/** Without the offset, which such an input does not take. */
const localTime = (time: number): string => {
  const date = new Date(time);
  return new Date(time - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
};
