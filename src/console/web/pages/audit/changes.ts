/** What a change changed, field by field. */
import type { Static } from 'typebox';
import type { AuditEntry as Entry } from '../../../../../schemas/admin/audit.ts';

export type AuditEntry = Static<typeof Entry>;

export interface FieldChange {
  readonly field: string;
  /** Undefined: it was not there. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Those that differ, `limits.concurrency` of nested ones. */
export const changesOf = ({
  before,
  after,
}: Pick<AuditEntry, 'before' | 'after'>): readonly FieldChange[] => {
  const [former, latter] = [fieldsOf(before), fieldsOf(after)];
  return [...new Set([...former.keys(), ...latter.keys()])]
    .map((field) => ({ field, before: former.get(field), after: latter.get(field) }))
    .filter((change) => change.before !== change.after);
};

/** Every value as text by its path; lists are values. */
const fieldsOf = (value: unknown, path = ''): ReadonlyMap<string, string> => {
  if (value === null || value === undefined) return new Map(path === '' ? [] : [[path, 'null']]);
  if (typeof value !== 'object' || Array.isArray(value)) return new Map([[path, textOf(value)]]);
  return new Map(
    Object.entries(value).flatMap(([name, inner]) => [
      ...fieldsOf(inner, path === '' ? name : `${path}.${name}`),
    ]),
  );
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** `status: active → suspended` */
export const summaryOf = (entry: AuditEntry): string => {
  if (entry.before === null) return 'created';
  if (entry.after === null) return 'removed';
  return changesOf(entry)
    .map(({ field, before = '–', after = '–' }) => `${field}: ${before} → ${after}`)
    .join(', ');
};
