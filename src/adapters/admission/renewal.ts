/** Everyone who runs or waits in this process in; what Redis is to be told of them, in calls of bounded size, out. */
import type { AdmissionRequest } from '../../ports/admission.ts';
import type { Holdings } from './redis-gates.ts';
import { StartWindow } from './start-window.ts';
import type { Visit } from './visit.ts';

/** Ids and gates in one call: well under a millisecond of the server's time. */
const batchSize = 500;

export const collect = (visits: Iterable<Visit>, starts: Iterable<UnheardStarts>): Holdings[] => {
  const gates = new Map<string, Holdings>();
  const at = (gate: string, request: AdmissionRequest): Holdings => {
    let holdings = gates.get(gate);
    if (holdings === undefined) {
      holdings = { request, starts: 0, runners: [], waiters: [] };
      gates.set(gate, holdings);
    }
    return holdings;
  };
  for (const { gate, request, count } of starts) at(gate, request).starts += count;
  for (const visit of visits) {
    if (visit.phase === 'running') at(visit.gate, visit.request).runners.push(visit.id);
    else if (visit.phase === 'queued') at(visit.gate, visit.request).waiters.push(visit.id);
  }
  return [...gates.values()];
};

export const batches = (all: readonly Holdings[]): Holdings[][] => {
  const cut: Holdings[][] = [];
  let size = batchSize;
  for (const holdings of all) {
    if (size >= batchSize) {
      cut.push([]);
      size = 0;
    }
    cut.at(-1)?.push(holdings);
    size += 1 + holdings.runners.length + holdings.waiters.length;
  }
  return cut;
};

export interface UnheardStarts {
  readonly gate: string;
  readonly request: AdmissionRequest;
  readonly window: StartWindow;
  readonly count: number;
}

/** Starts that Redis has not heard of, because it was away: they count from when it hears of them. */
export class Unheard {
  readonly #windowMs: number;
  readonly #gates = new Map<string, { readonly request: AdmissionRequest; readonly window: StartWindow }>();

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  add({ gate, request }: Visit, now: number): void {
    let known = this.#gates.get(gate);
    if (known === undefined) {
      known = { request, window: new StartWindow(this.#windowMs) };
      this.#gates.set(gate, known);
    }
    known.window.count(now);
    known.window.add(now);
  }

  /** All that still count, and none of them a second time. */
  take(now: number): UnheardStarts[] {
    this.prune(now);
    const all = [...this.#gates].map(([gate, { request, window }]) => ({
      gate,
      request,
      window,
      count: window.count(now),
    }));
    this.#gates.clear();
    return all;
  }

  /** They could not be told after all. */
  restore(starts: readonly UnheardStarts[], now: number): void {
    for (const { gate, request, window, count } of starts) {
      const known = this.#gates.get(gate);
      if (known === undefined) this.#gates.set(gate, { request, window });
      else for (let restored = 0; restored < count; restored++) known.window.add(now);
    }
  }

  prune(now: number): void {
    for (const [gate, { window }] of this.#gates) if (window.count(now) === 0) this.#gates.delete(gate);
  }
}
