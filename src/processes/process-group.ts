/** The gateway processes of one port: starts, watches, replaces and drains them. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { AdminReply, AdminRequest } from '../admin/route.ts';
import { exponentialBackoff } from '../helpers/backoff.ts';
import { counter, type MetricFamily, merged } from '../metrics/exposition.ts';
import { Child, type Ready } from './child.ts';
import { heartbeatMs } from './messages.ts';

const backoff = exponentialBackoff({ first: 500, most: 30_000 });
/** A process that ran this long had started well: the backoff starts over. */
const stableMs = 60_000;

export interface ProcessGroupOptions {
  /** Of its processes, beside that of the supervisor. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: Logger;
  /** Seconds of silence after which a process counts as hung; 0: never. */
  readonly watchdogSeconds: number;
}

export class ProcessGroup {
  readonly #env: Readonly<Record<string, string>>;
  readonly #log: Logger;
  readonly #watchdogSeconds: number;
  readonly #watch: NodeJS.Timeout | undefined;
  readonly #children = new Set<Child>();
  /** Deaths in a row of processes that did not run long. */
  #failures = 0;
  #replacing: Promise<void> = Promise.resolve();
  #ending = false;
  #deaths = 0;
  #hangs = 0;

  constructor({ env, log, watchdogSeconds }: ProcessGroupOptions) {
    this.#env = env;
    this.#log = log;
    this.#watchdogSeconds = watchdogSeconds;
    if (watchdogSeconds > 0) this.#watch = setInterval(() => this.#killHung(), heartbeatMs).unref();
  }

  /** Rejects when one cannot start; that process prints why. The first starts alone: it creates the shared stores. */
  async start(count: number): Promise<Ready> {
    const first = await this.#startChild();
    await Promise.all(Array.from({ length: count - 1 }, () => this.#startChild()));
    return first.ready;
  }

  reload(): void {
    for (const child of this.#children) child.send({ type: 'reload' });
  }

  /** Rolling, one after another; a process whose successor cannot start stays. */
  replaceAll(): void {
    this.#replacing = this.#replacing
      .then(() => this.#replaceEach())
      .catch((error: unknown) => this.#log.error({ err: error }, 'gateway process replacement failed'));
  }

  async end(): Promise<void> {
    this.#ending = true;
    await Promise.all([...this.#children].map((child) => child.drain({ handOver: false })));
    clearInterval(this.#watch);
  }

  async families(): Promise<readonly MetricFamily[]> {
    const families = await Promise.all(
      this.#serving().map(async (child) => [String(child.slot), (await child.metrics()) ?? []] as const),
    );
    return [
      ...merged(new Map(families)),
      counter('sluice_process_deaths_total', 'Gateway processes that ended unasked.', this.#deaths),
      counter(
        'sluice_process_hangs_total',
        'Gateway processes that were silent for too long, and were killed.',
        this.#hangs,
      ),
    ];
  }

  /** Ready while one process is; the first that says so is enough. */
  async unready(): Promise<readonly string[]> {
    if (this.#ending) return ['process: shutting down'];
    const replies = this.#serving().map(async (child) => (await child.unready()) ?? ['process: silent']);
    if (replies.length === 0) return ['process: starting'];
    const ready = replies.map(async (reply) => {
      const reasons = await reply;
      if (reasons.length > 0) throw new Error(reasons.join());
    });
    return Promise.any(ready).then(
      () => [],
      async () => (await Promise.all(replies)).flat(),
    );
  }

  /** Of one process, or of all; those that do not reply in time are left out. */
  async admin(request: AdminRequest, whom: 'one' | 'all'): Promise<readonly AdminReply[]> {
    // Those that drain have requests, too.
    const asked =
      whom === 'all' ? [...this.#children].filter(({ started }) => started) : this.#serving().slice(0, 1);
    const replies = await Promise.all(asked.map((child) => child.admin(request, whom)));
    return replies.filter((reply) => reply !== undefined);
  }

  async #startChild(): Promise<Child> {
    const child = new Child(this.#freeSlot(), this.#env);
    this.#children.add(child);
    void child.exited.then(() => this.#children.delete(child));
    await child.ready;
    const started = performance.now();
    void child.exited.then((how) => {
      if (!child.draining && !this.#ending) void this.#replaceDead(child, how, performance.now() - started);
    });
    return child;
  }

  /** Its death is handled like any other. */
  #killHung(): void {
    const heartbeats = (this.#watchdogSeconds * 1_000) / heartbeatMs;
    for (const child of this.#children) {
      if (!child.hangs(heartbeats)) continue;
      this.#hangs++;
      this.#log.error(
        { pid: child.pid, silentSeconds: this.#watchdogSeconds },
        'gateway process hung, killed',
      );
      child.kill();
    }
  }

  /** Slots are reused: a label that counts all processes ever started would be unbounded. */
  #freeSlot(): number {
    const taken = new Set([...this.#children].map(({ slot }) => slot));
    let slot = 1;
    while (taken.has(slot)) slot++;
    return slot;
  }

  async #replaceDead({ pid }: Child, how: string, ranMs: number): Promise<void> {
    this.#deaths++;
    if (ranMs > stableMs) this.#failures = 0;
    this.#log.error({ pid, how, ranMs: Math.round(ranMs) }, 'gateway process died');
    while (!this.#ending) {
      const backoffMs = backoff(++this.#failures);
      await delay(backoffMs);
      if (this.#ending) return;
      try {
        const next = await this.#startChild();
        this.#log.warn({ from: pid, to: next.pid, backoffMs }, 'gateway process replaced');
        return;
      } catch (error) {
        this.#deaths++;
        this.#log.error({ err: error, backoffMs }, 'gateway process restart failed');
      }
    }
  }

  /** Each successor listens before its predecessor drains; the next pair does not wait for that drain. */
  async #replaceEach(): Promise<void> {
    const drained: Promise<string>[] = [];
    for (const child of [...this.#children].filter(({ draining }) => !draining)) {
      if (this.#ending) return;
      const next = await this.#startChild();
      this.#log.warn({ from: child.pid, to: next.pid }, 'gateway process replaced');
      drained.push(child.drain({ handOver: true }));
    }
    await Promise.all(drained);
  }

  /** Without those that still start: they cannot reply yet. */
  #serving(): readonly Child[] {
    return [...this.#children].filter(({ started, draining }) => started && !draining);
  }
}
