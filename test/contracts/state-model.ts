/** The reference model of the State port: a list in memory. */
import type { NewRecord, RecordIndex, State, StoredRecord } from '../../src/ports/state.ts';

interface Entry {
  readonly kind: string;
  readonly sequence: number;
  readonly record: StoredRecord<unknown>;
  readonly index: RecordIndex | undefined;
}

/** Values are kept as JSON, in which there is no negative zero. */
const stored = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

export const createModelState = (): State => {
  let entries: Entry[] = [];
  let sequence = 0;
  const find = (kind: string, id: string) =>
    entries.find((entry) => entry.kind === kind && entry.record.id === id);
  const copy = <T>(record: StoredRecord<unknown>): StoredRecord<T> =>
    structuredClone(record) as StoredRecord<T>;
  const waiting = (kind: string, group: string, until: number) =>
    entries
      .filter(({ kind: k, index }) => k === kind && index?.group === group && index.due <= until)
      .sort((a, b) => (a.index?.due ?? 0) - (b.index?.due ?? 0) || a.sequence - b.sequence);

  return {
    create: async <T>(kind: string, { id, owner, value, index }: NewRecord<T>) => {
      if (find(kind, id) !== undefined) return false;
      entries.push({
        kind,
        sequence: ++sequence,
        record: { id, owner, value: stored(value), version: 1 },
        index,
      });
      return true;
    },
    get: async <T>(kind: string, id: string) => {
      const entry = find(kind, id);
      return entry && copy<T>(entry.record);
    },
    update: async (kind, id, version, { value, index }) => {
      const entry = find(kind, id);
      if (entry?.record.version !== version) return false;
      entries = entries.map((other) =>
        other === entry
          ? { ...entry, index, record: { ...entry.record, value: stored(value), version: version + 1 } }
          : other,
      );
      return true;
    },
    remove: async (kind, id, version) => {
      const entry = find(kind, id);
      if (entry === undefined || (version !== undefined && entry.record.version !== version)) return false;
      entries = entries.filter((other) => other !== entry);
      return true;
    },
    list: async <T>(kind: string, { owner, after, before, limit, order }: Parameters<State['list']>[1]) => {
      const listing = entries
        .filter((entry) => entry.kind === kind && (owner === undefined || entry.record.owner === owner))
        .map(({ record }) => record);
      if (order === 'desc') listing.reverse();
      const place = (id: string) => listing.findIndex((record) => record.id === id);
      const from = after === undefined ? 0 : place(after) + 1;
      const to = before === undefined ? listing.length : place(before);
      if ((after !== undefined && from === 0) || to === -1) return [];
      const range = listing.slice(from, Math.max(from, to));
      const page =
        before !== undefined && after === undefined
          ? range.slice(Math.max(0, range.length - limit))
          : range.slice(0, limit);
      return page.map((record) => copy<T>(record));
    },
    due: async <T>(kind: string, { group, until, limit }: Parameters<State['due']>[1]) =>
      waiting(kind, group, until)
        .slice(0, limit)
        .map(({ record }) => copy<T>(record)),
    countDue: async (kind, { group, until }) => waiting(kind, group, until).length,
    check: async () => undefined,
    close: async () => undefined,
  };
};
