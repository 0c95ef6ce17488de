/** The gateways of one port: started, watched, replaced, ended. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { exponentialBackoff } from '../backoff.ts';
import { type Family as MetricFamily, merged } from '../metrics/exposition.ts';
import { counter } from '../metrics/process.ts';
import { Child, type Ready } from './child.ts';

const backoff = exponentialBackoff({ first: 500, most: 30_000 });
/** A process that ran this long had started well: its death is not the next one's fault. */
const steadyMs = 60_000;

export class Family {
  readonly #env: Readonly<Record<string, string>>;
  readonly #log: Logger;
  readonly #children = new Set<Child>();
  /** Deaths in a row of processes that did not run long. */
  #failures = 0;
  #replacing: Promise<void> = Promise.resolve();
  #ending = false;
  #deaths = 0;

  constructor(env: Readonly<Record<string, string>>, log: Logger) {
    this.#env = env;
    this.#log = log;
  }

  /** Rejects when one of them cannot start; which has said why itself. The first starts alone: it makes what the others find. */
  async begin(count: number): Promise<Ready> {
    const first = await this.#start();
    await Promise.all(Array.from({ length: count - 1 }, () => this.#start()));
    return first.ready;
  }

  reload(): void {
    for (const child of this.#children) child.tell({ order: 'reload' });
  }

  /** One after another; those that cannot be replaced stay. */
  replaceAll(): void {
    this.#replacing = this.#replacing
      .then(() => this.#replaceEach())
      .catch((error: unknown) =>
        this.#log.error({ err: error }, 'not all gateway processes could be replaced'),
      );
  }

  async end(): Promise<void> {
    this.#ending = true;
    await Promise.all([...this.#children].map((child) => child.drain({ handOver: false })));
  }

  async families(): Promise<readonly MetricFamily[]> {
    const seen = await Promise.all(
      this.#here().map(async (child) => [String(child.place), (await child.look()) ?? []] as const),
    );
    return [
      ...merged(new Map(seen)),
      counter('sluice_process_deaths_total', 'Gateway processes that ended unasked.', this.#deaths),
    ];
  }

  /** Traffic should come while one of them is ready for it; the first that says so is believed at once. */
  async unready(): Promise<readonly string[]> {
    if (this.#ending) return ['process: shutting down'];
    const asked = this.#here().map(async (child) => (await child.unready()) ?? ['process: silent']);
    if (asked.length === 0) return ['process: starting'];
    const ready = asked.map(async (answer) => {
      const reasons = await answer;
      if (reasons.length > 0) throw new Error(reasons.join());
    });
    return Promise.any(ready).then(
      () => [],
      async () => (await Promise.all(asked)).flat(),
    );
  }

  async #start(): Promise<Child> {
    const child = new Child(this.#freePlace(), this.#env);
    this.#children.add(child);
    void child.exited.then(() => this.#children.delete(child));
    await child.ready;
    const started = performance.now();
    void child.exited.then((how) => {
      if (!child.leaving && !this.#ending) void this.#replaceDead(how, performance.now() - started);
    });
    return child;
  }

  /** Places are taken again: a label that counts all processes there ever were would have no bound. */
  #freePlace(): number {
    const taken = new Set([...this.#children].map(({ place }) => place));
    let place = 1;
    while (taken.has(place)) place++;
    return place;
  }

  async #replaceDead(how: string, ranMs: number): Promise<void> {
    this.#deaths++;
    if (ranMs > steadyMs) this.#failures = 0;
    while (!this.#ending) {
      const pauseMs = backoff(++this.#failures);
      this.#log.error({ how, pauseMs }, 'a gateway process ended; another is started');
      await delay(pauseMs);
      if (this.#ending) return;
      try {
        await this.#start();
        return;
      } catch (error) {
        this.#deaths++;
        this.#log.error({ err: error }, 'it could not be started');
      }
    }
  }

  /** The next one listens before the one it replaces stops; while that lets its last clients go, the next but one starts. */
  async #replaceEach(): Promise<void> {
    const drained: Promise<string>[] = [];
    for (const child of [...this.#children].filter(({ leaving }) => !leaving)) {
      if (this.#ending) return;
      const next = await this.#start();
      this.#log.warn({ from: child.pid, to: next.pid }, 'a gateway process is replaced');
      drained.push(child.drain({ handOver: true }));
    }
    await Promise.all(drained);
  }

  /** One that starts cannot answer yet, and nobody should wait for it. */
  #here(): readonly Child[] {
    return [...this.#children].filter(({ started, leaving }) => started && !leaving);
  }
}
