/** Holds the conversations of a workload with a target and measures the time to first token. */
import { Histogram } from '../histogram.ts';
import type { Clock } from './clock.ts';
import { Random } from './random.ts';
import type { Message, Workload } from './workloads.ts';

export interface Sent {
  readonly messages: readonly Message[];
  readonly answerTokens: number;
}

export interface Target {
  send(request: Sent, answer: { first(): void; end(text: string): void; failed(error: Error): void }): void;
}

export interface Driven {
  readonly requests: number;
  readonly failures: number;
  readonly firstToken: Histogram;
  readonly error: Error | undefined;
}

interface DriveOptions {
  readonly clock: Clock;
  readonly seconds: number;
  readonly seed: number;
  /** Called when everything that was sent has ended. */
  done(driven: Driven): void;
}

/** Clients start one by one in the first second, and send nothing more once the time is over. */
export const drive = (workload: Workload, target: Target, options: DriveOptions): void => {
  const { clock, seconds, seed, done } = options;
  const end = clock.now() + 1000 * seconds;
  const driven = {
    requests: 0,
    failures: 0,
    firstToken: new Histogram(),
    error: undefined as Error | undefined,
  };
  let clients = workload.clients;

  const converse = (random: Random): void => {
    const conversation = workload.conversation(random);
    let { messages } = conversation;
    const turn = (): void => {
      if (clock.now() >= end) {
        if (--clients === 0) done(driven);
        return;
      }
      const next = conversation.next();
      if (next === undefined) {
        converse(random);
        return;
      }
      clock.after(next.pause, () => {
        messages = [...messages, ...next.add];
        const sentAt = clock.now();
        driven.requests++;
        target.send(
          { messages, answerTokens: next.answerTokens },
          {
            first: () => driven.firstToken.record(clock.now() - sentAt),
            end: (text) => {
              messages = [...messages, { role: 'assistant', content: text }];
              turn();
            },
            failed: (error) => {
              driven.failures++;
              driven.error ??= error;
              clock.after(50, turn);
            },
          },
        );
      });
    };
    turn();
  };
  for (let client = 0; client < workload.clients; client++)
    clock.after((1000 * client) / workload.clients, () => converse(new Random(seed * 1000 + client)));
};

/** As a chat template writes it, up to where the answer begins. */
export const rendered = (messages: readonly Message[]): string =>
  `${messages.map(({ role, content }) => `<|${role}|>${content}\n`).join('')}<|assistant|>`;

/** What the model says: as long as it was asked to be, and different after every prompt. */
export const answerTo = ({ messages, answerTokens }: Sent): string => {
  const last = messages.at(-1)?.content ?? '';
  let seed = messages.length;
  for (let index = 0; index < last.length; index += 7) seed = Math.imul(seed ^ last.charCodeAt(index), 31);
  return new Random(seed).text(answerTokens);
};
