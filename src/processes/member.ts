/** A gateway that another process started: says when it listens, and obeys. */
import type { DrainOptions } from '../http/listen.ts';
import type { Gateway } from '../main.ts';
import type { Welcome } from '../welcome.ts';
import type { Order, Word } from './messages.ts';

export interface Membership {
  /** Resolves when it is to end, and how: it was told to, or nobody is left to tell it. */
  readonly ended: Promise<DrainOptions>;
}

export const joinProcesses = (gateway: Gateway, { config: _, ...greeting }: Welcome): Membership => {
  const say = (word: Word): void => {
    // Nobody listens any more: the end is near.
    process.send?.(word, undefined, {}, () => undefined);
  };
  const ended = new Promise<DrainOptions>((resolve) => {
    process.once('disconnect', () => resolve({ handOver: false }));
    process.on('message', (message: Order) => {
      if (message.order === 'drain') resolve({ handOver: message.handOver });
      else if (message.order === 'reload') gateway.reload();
      else if (message.order === 'look')
        say({ word: 'seen', number: message.number, families: gateway.families() });
      else void gateway.unready().then((unready) => say({ word: 'asked', number: message.number, unready }));
    });
  });
  // Signals of a terminal reach every process; the first one decides what becomes of them.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  say({ word: 'ready', greeting });
  return { ended };
};
