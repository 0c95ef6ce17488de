/** What happens to jobs in; events on the `jobs` topic out, and back in from other processes. Only a quicker way to know: the store decides. */
import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import Value from 'typebox/value';
import type { JobRecord } from '../../schemas/jobs.ts';
import { JobEvent } from '../../schemas/jobs.ts';
import type { Events, ReceivedMessage, Receiver } from '../ports/events.ts';
import type { Notice, Notices } from './notices.ts';

/** Events that may wait to be sent; more are left out, and whoever needed them finds out by looking. */
const mostWaiting = 200;
const longestEvent = 10_000;

export class JobEvents {
  readonly #events: Events;
  readonly #log: Logger;
  /** Tells our own from those of others. */
  readonly #sender = randomBytes(8).toString('hex');
  #waiting = 0;

  constructor(events: Events, log: Logger) {
    this.#events = events;
    this.#log = log;
  }

  /** Creations and changes of state. */
  publish(job: JobRecord, notice: Notice): void {
    if (notice === 'samples' || this.#waiting >= mostWaiting) return;
    this.#waiting++;
    const { id, type, subscription, model, status, attempts, moved } = job;
    const event: JobEvent = {
      schema: 1,
      id,
      type,
      subscription,
      model,
      status,
      attempts,
      time: moved ?? job.created,
      sender: this.#sender,
    };
    this.#events
      .publish('jobs', [{ key: id, value: JSON.stringify(event) }])
      .catch((error: unknown) => this.#log.debug({ err: error, job: id }, 'an event of a job was not sent'))
      .finally(() => {
        this.#waiting--;
      });
  }

  /** What other processes say; anything else is passed over. */
  receiver(notices: Notices): Receiver {
    return async (messages) => {
      for (const message of messages) {
        const event = read(message);
        if (event === undefined || event.sender === this.#sender) continue;
        notices.overhear(event.id, noticeOf(event));
      }
      return [];
    };
  }
}

const noticeOf = ({ status }: JobEvent): Notice =>
  status === 'pending' ? 'queued' : status === 'in_progress' ? 'started' : 'ended';

const read = ({ value }: ReceivedMessage): JobEvent | undefined => {
  if (value.length > longestEvent) return undefined;
  try {
    const event: unknown = JSON.parse(value.toString());
    return Value.Check(JobEvent, event) ? event : undefined;
  } catch {
    return undefined; // not ours
  }
};
