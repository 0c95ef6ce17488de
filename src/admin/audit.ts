/** The audit log: a record for every change that an operator makes, kept in the State port beside what it changed. */
import { randomBytes } from 'node:crypto';
import type { AuditRecord } from '../../schemas/admin/audit.ts';
import type { ListQuery, State, StoredRecord } from '../ports/state.ts';

const kind = 'audit';
const group = 'all';
const keptMs = 400 * 86_400_000;
/** Old records that a new one removes. */
const removedAtOnce = 10;

export interface Change {
  readonly action: string;
  readonly target: string;
  readonly subscription?: string | undefined;
  /** Absent: there was nothing, or there is nothing any more. */
  readonly before?: object | undefined;
  readonly after?: object | undefined;
}

export interface Audit {
  /** Right after the change; once it has resolved the record is durable. */
  note(change: Change): Promise<void>;
  /**
   * Runs a change of one record, which reports what it replaces to `see`, and notes it. `expect` may refuse it by what is
   * replaced.
   */
  changing<T extends object>(
    describe: (after: T) => Omit<Change, 'before' | 'after'>,
    change: (see: (current: T) => void) => Promise<T>,
    expect?: (current: T) => void,
  ): Promise<T>;
}

/** `id`: of the request that makes the change, so that several processes that make it together note it once. */
export const createAudit = (state: State, who: string, id?: string): Audit => {
  const note: Audit['note'] = async ({ action, target, subscription, before, after }) => {
    const time = Date.now();
    const value: AuditRecord = {
      ...{ time, who, action, target, subscription: subscription ?? null },
      before: before ?? null,
      after: after ?? null,
    };
    await state.create(kind, {
      id: `audit_${id ?? randomBytes(12).toString('hex')}`,
      owner: subscription ?? '',
      value,
      index: { group, due: time },
    });
    await removeOld(state, time - keptMs);
  };
  return {
    note,
    changing: async (describe, change, expect) => {
      let before: object | undefined;
      const after = await change((current) => {
        expect?.(current);
        before = current;
      });
      await note({ ...describe(after), before, after });
      return after;
    },
  };
};

const removeOld = async (state: State, until: number): Promise<void> => {
  for (const { id } of await state.due<AuditRecord>(kind, { group, until, limit: removedAtOnce }))
    await state.remove(kind, id);
};

export const auditPage = (state: State, query: ListQuery): Promise<readonly StoredRecord<AuditRecord>[]> =>
  state.list<AuditRecord>(kind, query);
