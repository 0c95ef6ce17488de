/** Admission within one process: a gate per subscription and model, each with its cap, its queue and its window. */
import { Observable, of, throwError } from 'rxjs';
import { type ApiError, fail } from '../../errors.ts';
import type { Admission, AdmissionRequest, Lease, Limits } from '../../ports/admission.ts';
import { type Clock, monotonicClock } from './clock.ts';
import { StartWindow, windowMs } from './start-window.ts';

export interface LocalAdmissionOptions {
  readonly clock?: Clock;
  /** Requests that may wait at one gate. */
  readonly queueLength?: number;
  /** Milliseconds a request may wait. */
  readonly queueMs?: number;
}

interface Waiter {
  readonly arrived: number;
  readonly admitted: (lease: Lease) => void;
  readonly refused: (error: ApiError) => void;
}

interface Gate {
  running: number;
  limits: Limits;
  /** First in, first out; a Set keeps order and lets a waiter leave from the middle in O(1). */
  readonly queue: Set<Waiter>;
  readonly window: StartWindow;
  touched: number;
}

export const createLocalAdmission = (
  options: LocalAdmissionOptions = {},
): Admission & { gates(): number } => {
  const { clock = monotonicClock, queueLength = 1000, queueMs = 30_000 } = options;
  const gates = new Map<string, Gate>();
  let stopSweeping = scheduleSweep();

  const admit = (request: AdmissionRequest): Observable<Lease> => {
    const gate = gateOf(request);
    if (gate.running < gate.limits.concurrency && gate.queue.size === 0) {
      const outcome = start(gate, request.model, clock.now());
      return 'release' in outcome ? of(outcome) : throwError(() => outcome);
    }
    if (gate.queue.size >= queueLength) return throwError(() => busy(request.model));
    return waitInLine(gate, request.model);
  };

  /** A free slot is not enough: the window decides, and says when to come back. */
  const start = (gate: Gate, model: string, arrived: number): Lease | ApiError => {
    const now = clock.now();
    const wait = gate.window.waitFor(gate.limits.requestsPerMinute, now);
    if (wait > 0) return tooMany(model, gate.limits.requestsPerMinute, wait);
    gate.window.add(now);
    gate.running++;
    let held = true;
    return {
      waited: now - arrived,
      release: () => {
        if (!held) return;
        held = false;
        gate.running--;
        serveQueue(gate, model);
      },
    };
  };

  const waitInLine = (gate: Gate, model: string): Observable<Lease> =>
    new Observable((subscriber) => {
      const waiter: Waiter = {
        arrived: clock.now(),
        admitted: (lease) => {
          subscriber.next(lease);
          subscriber.complete();
        },
        refused: (error) => subscriber.error(error),
      };
      gate.queue.add(waiter);
      const cancelTimer = clock.after(queueMs, () => {
        gate.queue.delete(waiter);
        waiter.refused(busy(model));
      });
      return () => {
        cancelTimer();
        gate.queue.delete(waiter);
      };
    });

  const serveQueue = (gate: Gate, model: string): void => {
    for (const waiter of gate.queue) {
      if (gate.running >= gate.limits.concurrency) return;
      gate.queue.delete(waiter);
      const outcome = start(gate, model, waiter.arrived);
      if ('release' in outcome) waiter.admitted(outcome);
      else waiter.refused(outcome);
    }
  };

  const gateOf = (request: AdmissionRequest): Gate => {
    const name = `${request.subscription}\n${request.model}`;
    let gate = gates.get(name);
    if (gate === undefined) {
      gate = { running: 0, limits: request.limits, queue: new Set(), window: new StartWindow(), touched: 0 };
      gates.set(name, gate);
    }
    gate.limits = request.limits; // the numbers may have changed since
    gate.touched = clock.now();
    return gate;
  };

  /** A gate that nobody passed for a whole window holds nothing worth keeping. */
  function scheduleSweep(): () => void {
    return clock.after(windowMs / 4, () => {
      const now = clock.now();
      for (const [name, gate] of gates)
        if (
          gate.running === 0 &&
          gate.queue.size === 0 &&
          now - gate.touched > windowMs &&
          gate.window.count(now) === 0
        )
          gates.delete(name);
      stopSweeping = scheduleSweep();
    });
  }

  return {
    admit,
    gates: () => gates.size,
    check: () => Promise.resolve(),
    close: () => {
      stopSweeping();
      return Promise.resolve();
    },
  };
};

const tooMany = (model: string, limit: number, waitMs: number): ApiError =>
  fail('rate_limited', `Rate limit reached for ${model}: ${limit} requests per minute`, {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) },
  });

const busy = (model: string): ApiError =>
  fail('rate_limited', `Too many requests to ${model} are running and waiting`, {
    headers: { 'retry-after': '1' },
  });
