/** Measures what choosing a replica by prefix costs for one request. */

import type { Dispatch } from '../../src/engines/pool/dispatch.ts';
import { PrefixAffinity } from '../../src/engines/pool/policies/prefix.ts';
import { Replica } from '../../src/engines/pool/replica.ts';
import { Random } from './random.ts';
import { routed } from './simulate.ts';

export interface ChoiceCost {
  readonly tokens: number;
  readonly messages: number;
  readonly nanoseconds: number;
}

const conversations = 50;
const rounds = 2000;

/** The fastest round counts: others were interrupted. */
export const measureChoice = (): readonly ChoiceCost[] =>
  [
    { tokens: 100, messages: 1 },
    { tokens: 2000, messages: 1 },
    { tokens: 2000, messages: 8 },
    { tokens: 2000, messages: 20 },
    { tokens: 32_000, messages: 20 },
  ].map(({ tokens, messages }) => {
    const random = new Random(1);
    const policy = new PrefixAffinity();
    const replicas = Array.from(
      { length: 4 },
      (_, index) => new Replica(`http://r${index}/v1`, {} as Dispatch),
    );
    const calls = Array.from({ length: conversations }, () =>
      routed({
        messages: Array.from({ length: messages }, (_, index) => ({
          role: index % 2 === 0 ? 'user' : 'assistant',
          content: flat(random.text(tokens / messages)),
        })),
        answerTokens: 0,
      }),
    );
    let fastest = Number.POSITIVE_INFINITY;
    for (let round = 0; round < rounds; round++) {
      const start = process.hrtime.bigint();
      for (const call of calls) policy.choose(replicas, call, 0);
      fastest = Math.min(fastest, Number(process.hrtime.bigint() - start) / conversations);
    }
    return { tokens, messages, nanoseconds: fastest };
  });

/** As a parser makes it: in one piece. */
const flat = (text: string): string => JSON.parse(JSON.stringify(text)) as string;
