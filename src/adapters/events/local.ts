/** The Events port within the process: usage is passed straight to its receiver. */
import { appendFileSync } from 'node:fs';
import type { Logger } from 'pino';
import type { Events, Receiver } from '../../ports/events.ts';

interface LocalEventsOptions {
  readonly usage: Receiver;
  /** Where messages that can never be used are set aside, with the reason, a line each. */
  readonly rejectedFile: string;
  readonly log: Logger;
}

const never = new AbortController().signal;

export const createLocalEvents = ({ usage, rejectedFile, log }: LocalEventsOptions): Events => {
  let open = true;
  return {
    publish: async (topic, messages) => {
      if (!open) throw new Error('Events are closed.');
      if (topic !== 'usage') return;
      const rejected = await usage(messages, never);
      for (const { index, reason } of rejected)
        appendFileSync(
          rejectedFile,
          `${JSON.stringify({ reason, value: String(messages[index]?.value) })}\n`,
        );
      if (rejected.length > 0)
        log.error({ events: rejected.length, file: rejectedFile }, 'usage events rejected and set aside');
    },
    check: async () => {
      if (!open) throw new Error('Events are closed.');
    },
    close: async () => {
      open = false;
    },
  };
};
