/** Notices of what happens to jobs, within this process and between processes. */
import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import Value from 'typebox/value';
import { JobEvent, type JobRecord } from '../../schemas/jobs.ts';
import type { Events, ReceivedMessage, Receiver } from '../ports/events.ts';

type Notice = 'queued' | 'started' | 'ended' | 'samples';
type Listener = (job: string, notice: Notice) => void;

/** Notices within this process. Whoever misses one polls. */
export class Notices {
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #listeners = new Set<Listener>();
  readonly #forward: (job: JobRecord, notice: Notice) => void;

  /** `forward` sends what happened here to other processes. */
  constructor(forward: (job: JobRecord, notice: Notice) => void = () => undefined) {
    this.#forward = forward;
  }

  /** It happened in this process. */
  publish(job: JobRecord, notice: Notice): void {
    this.receive(job.id, notice);
    this.#forward(job, notice);
  }

  /** It happened, here or in another process. */
  receive(job: string, notice: Notice): void {
    for (const listener of this.#listeners) listener(job, notice);
    for (const wake of this.#waiting.get(job) ?? []) wake();
  }

  /** Returns what ends the subscription. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves at the next notice of the job, or after so many milliseconds. */
  wait(job: string, milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(job) ?? new Set();
      this.#waiting.set(job, waiting);
      const wake = (): void => {
        clearTimeout(timer);
        waiting.delete(wake);
        if (waiting.size === 0) this.#waiting.delete(job);
        resolve();
      };
      const timer = setTimeout(wake, milliseconds);
      waiting.add(wake);
    });
  }
}

/** Events that may wait to be sent; more are dropped, and other processes find out by polling. */
const maxWaiting = 200;
const maxEventBytes = 10_000;

/** Notices between processes, on the `jobs` topic. Only faster than polling: the store decides. */
export const createJobEvents = (events: Events, log: Logger) => {
  /** Tells our own events from those of other processes. */
  const sender = randomBytes(8).toString('hex');
  let waiting = 0;
  return {
    /** Creations and changes of state. */
    publish(job: JobRecord, notice: Notice): void {
      if (notice === 'samples' || waiting >= maxWaiting) return;
      waiting++;
      const { id, type, subscription, model, status, attempts, moved, created } = job;
      const about = { id, type, subscription, model, status, attempts };
      const event: JobEvent = { schema: 1, ...about, time: moved ?? created, sender };
      events
        .publish('jobs', [{ key: id, value: JSON.stringify(event) }])
        .catch((error: unknown) => log.debug({ err: error, job: id }, 'job event not sent'))
        .finally(() => {
          waiting--;
        });
    },

    /** Receives the events of other processes; ignores anything else on the topic. */
    receiver:
      (notices: Notices): Receiver =>
      async (messages) => {
        for (const message of messages) {
          const event = read(message);
          if (event !== undefined && event.sender !== sender) notices.receive(event.id, noticeOf(event));
        }
        return [];
      },
  };
};

const noticeOf = ({ status }: JobEvent): Notice =>
  status === 'pending' ? 'queued' : status === 'in_progress' ? 'started' : 'ended';

const read = ({ value }: ReceivedMessage): JobEvent | undefined => {
  if (value === null || value.length > maxEventBytes) return undefined;
  try {
    const event: unknown = JSON.parse(value.toString());
    return Value.Check(JobEvent, event) ? event : undefined;
  } catch {
    return undefined; // not ours
  }
};
