/** Settles what dead processes had reserved by what the ledger has, and releases the rest. */
import type { Logger } from 'pino';
import { nanodollars } from '../../helpers/decimal.ts';
import type { Charge, DeadProcess } from '../../ports/allowances.ts';
import type { EventPlace, Ledger } from '../../ports/ledger.ts';
import { inTurns } from './periods.ts';
import type { RedisCounters, Remains } from './redis-counters.ts';

interface DeadProcessesOptions {
  readonly counters: RedisCounters;
  readonly ledger: Pick<Ledger, 'list'>;
  /** Milliseconds until what is left is looked up in the ledger. */
  readonly graceMs: number;
  /** Unix milliseconds. */
  readonly wallClock: () => number;
  readonly log: Logger | undefined;
}

/** Events read from the ledger at a time. */
const pageSize = 500;
/** Reservations of a process that are looked at in one go; as many as the script returns. */
const most = 5000;
/** How far the clocks of Redis and of gateways may differ. */
const clockError = 60_000;

export class DeadProcesses {
  readonly #options: DeadProcessesOptions;
  #working = false;

  constructor(options: DeadProcessesOptions) {
    this.#options = options;
  }

  /** Settles by its last usage events, which may be on their way to the ledger; the rest later. */
  async died({ process, charges, cutOff }: DeadProcess): Promise<void> {
    const { counters, graceMs } = this.#options;
    const costs = new Map(charges.map(({ id, cost }) => [id, cost]));
    await inTurns(await counters.reservations(process), async (entry) => {
      const cost = costs.get(entry.id);
      if (cost !== undefined) await counters.charge(entry, cost);
    });
    await counters.died(process, cutOff, graceMs);
  }

  /** Takes up processes that are due; nobody waits for the ledger. */
  async look(): Promise<void> {
    if (this.#working) return;
    const due = await this.#options.counters.due();
    if (due.length === 0) return;
    this.#working = true;
    void this.#settleAll(due).finally(() => {
      this.#working = false;
    });
  }

  async #settleAll(due: readonly Remains[]): Promise<void> {
    for (const remains of due)
      await this.#settle(remains).catch((error: unknown) => {
        const { process } = remains;
        this.#options.log?.warn({ err: error, process }, 'reservations of a dead process not settled yet');
      });
  }

  async #settle({ partition, process, ids, since }: Remains): Promise<void> {
    const { counters, log } = this.#options;
    const charge = (id: string, cost: number) => counters.charge({ partition, process, id }, cost);
    const charges = ids.length === 0 ? [] : await this.#find(ids, since);
    await inTurns(charges, ({ id, cost }) => charge(id, cost));
    const found = new Set(charges.map(({ id }) => id));
    const unbilled = ids.filter((id) => !found.has(id));
    await inTurns(unbilled, (id) => charge(id, 0));
    if (ids.length < most) await counters.release({ partition, process });
    if (ids.length > 0)
      log?.info({ process, billed: found.size, released: unbilled.length }, 'dead process settled');
  }

  async #find(ids: readonly string[], since: number): Promise<Charge[]> {
    const { ledger, wallClock } = this.#options;
    const wanted = new Set(ids);
    const filter = { from: Math.max(0, since - clockError), to: wallClock() + clockError };
    const found: Charge[] = [];
    let after: EventPlace | undefined;
    for (;;) {
      const events = await ledger.list(filter, { limit: pageSize, ...(after && { after }) });
      for (const { request_id, cost } of events)
        if (wanted.delete(request_id)) found.push({ id: request_id, cost: nanodollars(cost) });
      after = events.at(-1);
      if (events.length < pageSize || wanted.size === 0) return found;
    }
  }
}
