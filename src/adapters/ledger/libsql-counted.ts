/**
 * Usage events in; those that were not counted before out, and marked as counted. An id that ends in a number takes one
 * bit, on a page with its neighbours: a row each would cost more than all else that is written of an event.
 */
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import type { Sqlite } from '../sqlite.ts';
import { millisecondsOfDay } from './day-sums.ts';
import { numberOf, prefixOf } from './numbered-id.ts';

/** Ids of one page. */
const pageSize = 4096;
/** Pages removed at once. */
const removed = 100;
const mostPrefixes = 1000;

export class Counted {
  readonly #sqlite: Sqlite;
  /** Prefixes met so far; true: of an earlier version, whose ids have rows. */
  readonly #prefixes = new Map<string, boolean>();

  constructor(sqlite: Sqlite) {
    this.#sqlite = sqlite;
  }

  /** Within a transaction. */
  add(events: readonly UsageEvent[], block: number): readonly UsageEvent[] {
    const fresh: UsageEvent[] = [];
    const named: UsageEvent[] = [];
    const pages = new Pages(this.#sqlite);
    let prefix: string | undefined;
    for (const event of events) {
      const { id } = event;
      // Ids that come together mostly have one prefix.
      if (prefix === undefined || !id.startsWith(prefix)) prefix = this.#numberedPrefix(id);
      const number = prefix === undefined ? undefined : numberOf(id);
      if (prefix === undefined || number === undefined) named.push(event);
      else if (pages.add(prefix, number, event.time)) fresh.push(event);
    }
    pages.write();
    if (named.length > 0) fresh.push(...addNamed(this.#sqlite, named, block));
    return fresh;
  }

  /** Before the start of a day. */
  removeBefore(limit: number): void {
    this.#sqlite.run(
      `DELETE FROM usage_counted WHERE (prefix, page) IN
         (SELECT prefix, page FROM usage_counted WHERE day < ? LIMIT ?)`,
      [limit / millisecondsOfDay, removed],
    );
  }

  #numberedPrefix(id: string): string | undefined {
    const prefix = prefixOf(id);
    if (prefix === undefined) return undefined;
    let hasRows = this.#prefixes.get(prefix);
    if (hasRows === undefined) {
      hasRows =
        this.#sqlite.get('SELECT 1 FROM usage_prefixes_before WHERE prefix = ?', [prefix]) !== undefined;
      if (this.#prefixes.size >= mostPrefixes) this.#prefixes.clear();
      this.#prefixes.set(prefix, hasRows);
    }
    return hasRows ? undefined : prefix;
  }
}

interface Page {
  readonly prefix: string;
  readonly number: number;
  readonly bits: Uint8Array;
  day: number;
}

/** The pages that one batch of ids is on. */
class Pages {
  readonly #sqlite: Sqlite;
  readonly #pages = new Map<string, Page>();
  #latest: Page | undefined;

  constructor(sqlite: Sqlite) {
    this.#sqlite = sqlite;
  }

  /** False: it was there already. */
  add(prefix: string, number: number, time: number): boolean {
    const page = this.#pageOf(prefix, Math.floor(number / pageSize));
    const place = number % pageSize;
    const bit = 1 << (place & 7);
    const bits = page.bits[place >> 3] ?? 0;
    if ((bits & bit) !== 0) return false;
    page.bits[place >> 3] = bits | bit;
    page.day = Math.max(page.day, Math.floor(time / millisecondsOfDay));
    return true;
  }

  write(): void {
    for (const { prefix, number, day, bits } of this.#pages.values())
      this.#sqlite.run(
        `INSERT INTO usage_counted VALUES (?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET day = max(day, excluded.day), bits = excluded.bits`,
        [prefix, number, day, bits],
      );
  }

  #pageOf(prefix: string, number: number): Page {
    const latest = this.#latest;
    if (latest !== undefined && latest.number === number && latest.prefix === prefix) return latest;
    const name = `${prefix} ${number}`;
    let page = this.#pages.get(name);
    if (page === undefined) {
      page = { prefix, number, bits: this.#read(prefix, number), day: 0 };
      this.#pages.set(name, page);
    }
    this.#latest = page;
    return page;
  }

  #read(prefix: string, number: number): Uint8Array {
    const [bits] =
      this.#sqlite.get<[Uint8Array]>('SELECT bits FROM usage_counted WHERE prefix = ? AND page = ?', [
        prefix,
        number,
      ]) ?? [];
    return bits ?? new Uint8Array(pageSize / 8);
  }
}

/** Ids of any kind: a row each. Gives the events whose id was not there, each once. */
const addNamed = (sqlite: Sqlite, events: readonly UsageEvent[], block: number): readonly UsageEvent[] => {
  const ids = JSON.stringify(events.map(({ id }) => id));
  const claimed = sqlite.run('INSERT OR IGNORE INTO usage_ids SELECT value, ? FROM json_each(?)', [
    block,
    ids,
  ]);
  if (claimed === events.length) return events;
  // By place: the library gives no text behind a NUL back.
  const places = sqlite.all<[number]>(
    'SELECT key FROM json_each(?) JOIN usage_ids ON usage_ids.id = value AND block = ?',
    [ids, block],
  );
  const fresh = new Set(places.map(([index]) => events[index]?.id));
  return events.filter(({ id }) => fresh.delete(id));
};
