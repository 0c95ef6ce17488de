/** Webhook deliveries in the State port: due times, claims, retries, and a log of attempts. */
import type { DeliveryAttempt, DeliveryRecord } from '../../schemas/webhooks.ts';
import { fail } from '../errors.ts';
import type { ListQuery, State, StoredRecord } from '../ports/state.ts';

const kind = 'delivery';
const waitingGroup = 'waiting';
const doneGroup = 'done';

/** Milliseconds after each failed attempt until the next; after the last one it is given up. */
const resends = [30_000, 120_000, 600_000, 3_600_000, 21_600_000];
/** After this a sender without an outcome is dead; longer than any attempt takes. */
const claimMs = 30_000;
/** How long the log of a finished delivery is kept. */
const logKeptMs = 30 * 86_400_000;
/** Attempts that the log shows. */
const shownAttempts = 20;

export type StoredDelivery = StoredRecord<DeliveryRecord>;
type NewDelivery = Pick<DeliveryRecord, 'job' | 'type' | 'subscription' | 'url' | 'body'> & {
  /** `<job>-<ending>`, `<budget>-<period>-<threshold>`. */
  readonly id: string;
};

export class Deliveries {
  readonly #state: State;
  readonly #now: () => number;

  constructor(state: State, now: () => number = Date.now) {
    this.#state = state;
    this.#now = now;
  }

  /** Once per id, however often: false when it is there already. */
  add({ id, ...event }: NewDelivery): Promise<boolean> {
    const created = this.#now();
    const value: DeliveryRecord = {
      ...event,
      created,
      status: 'waiting',
      tries: 0,
      next: created,
      claim: null,
      attempts: [],
    };
    const index = { group: waitingGroup, due: created };
    return this.#state.create(kind, { id, owner: event.subscription, value, index });
  }

  /** The longest overdue first. */
  due(limit: number): Promise<readonly StoredDelivery[]> {
    return this.#state.due<DeliveryRecord>(kind, { group: waitingGroup, until: this.#now(), limit });
  }

  /** Undefined when another sender was faster. The attempt counts, whatever its outcome. */
  claim(record: StoredDelivery, claim: string): Promise<StoredDelivery | undefined> {
    const { value } = record;
    return this.#change(record, {
      ...value,
      claim,
      tries: value.tries + 1,
      next: this.#now() + Math.max(claimMs, resends[value.tries] ?? 0),
    });
  }

  /** Later, without counting an attempt. */
  async postpone(record: StoredDelivery, milliseconds: number): Promise<void> {
    await this.#change(record, { ...record.value, next: this.#now() + milliseconds });
  }

  /** Returned to the queue at once, without counting the attempt. */
  async putBack(record: StoredDelivery): Promise<void> {
    const { value } = record;
    await this.#change(record, { ...value, claim: null, tries: value.tries - 1, next: this.#now() });
  }

  async delivered(record: StoredDelivery, attempt: DeliveryAttempt): Promise<void> {
    await this.#finish(record, 'delivered', attempt);
  }

  /** Retried after its backoff, or given up. */
  async failed(record: StoredDelivery, attempt: DeliveryAttempt): Promise<void> {
    const pause = resends[record.value.tries - 1];
    if (pause === undefined) return this.#finish(record, 'given up', attempt);
    await this.#change(record, {
      ...logged(record.value, attempt),
      next: attempt.time + attempt.milliseconds + pause,
    });
  }

  /** A sender died on its last attempt. */
  async giveUp(record: StoredDelivery): Promise<void> {
    await this.#finish(record, 'given up');
  }

  /** By hand: at once, with all its attempts again. Rejects with `not_found`. */
  async resend(id: string, expect?: (current: DeliveryRecord) => void): Promise<DeliveryRecord> {
    for (let attempt = 0; attempt < 20; attempt++) {
      const record = await this.#state.get<DeliveryRecord>(kind, id);
      if (record === undefined) throw fail('not_found', `There is no delivery "${id}"`);
      expect?.(record.value);
      const next = { ...record.value, status: 'waiting', tries: 0, next: this.#now(), claim: null } as const;
      const changed = await this.#change(record, next);
      if (changed !== undefined) return changed.value;
    }
    throw fail('conflict', `${id} is being delivered: try again`);
  }

  /** The latest first. */
  list(limit: number, subscription?: string): Promise<readonly StoredDelivery[]> {
    return this.page({
      limit,
      order: 'desc',
      ...(subscription === undefined ? {} : { owner: subscription }),
    });
  }

  page(query: ListQuery): Promise<readonly StoredDelivery[]> {
    return this.#state.list<DeliveryRecord>(kind, query);
  }

  get(id: string): Promise<StoredDelivery | undefined> {
    return this.#state.get<DeliveryRecord>(kind, id);
  }

  /** Of one job, in the order of its endings. */
  async ofJob(job: string): Promise<readonly StoredDelivery[]> {
    const found = await Promise.all(
      ['completed', 'failed', 'cancelled', 'expired'].map((ending) =>
        this.#state.get<DeliveryRecord>(kind, `${job}-${ending}`),
      ),
    );
    return found.filter((record) => record !== undefined);
  }

  /** Deletes old logs; returns how many. */
  async deleteOld(limit: number): Promise<number> {
    const old = await this.#state.due<DeliveryRecord>(kind, {
      group: doneGroup,
      until: this.#now() - logKeptMs,
      limit,
    });
    for (const { id, version } of old) await this.#state.remove(kind, id, version);
    return old.length;
  }

  async #finish(
    record: StoredDelivery,
    status: 'delivered' | 'given up',
    attempt?: DeliveryAttempt,
  ): Promise<void> {
    const value = attempt === undefined ? record.value : logged(record.value, attempt);
    await this.#change(record, { ...value, status, next: null, claim: null });
  }

  async #change(record: StoredDelivery, value: DeliveryRecord): Promise<StoredDelivery | undefined> {
    const index =
      value.next === null ? { group: doneGroup, due: this.#now() } : { group: waitingGroup, due: value.next };
    const changed = await this.#state.update(kind, record.id, record.version, { value, index });
    return changed ? { ...record, version: record.version + 1, value } : undefined;
  }
}

const logged = (record: DeliveryRecord, attempt: DeliveryAttempt): DeliveryRecord => ({
  ...record,
  claim: null,
  attempts: [...record.attempts, attempt].slice(-shownAttempts),
});
