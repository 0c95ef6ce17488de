/** Exhausts limits and a budget through several gateways while something fails, and compares what was used. */
import { setTimeout as delay } from 'node:timers/promises';
import { limits, model, type Stack, startStack } from './stack.ts';

export const disturbances = ['none', 'kills', 'Redis away, refuse', 'Redis away, local'] as const;
export type Disturbance = (typeof disturbances)[number];

export interface Outcome {
  readonly gateways: number;
  readonly disturbance: Disturbance;
  /** Responses that clients got, by status; 0: the connection was lost. */
  readonly statuses: Readonly<Record<number, number>>;
  readonly requests: number;
  readonly tokens: number;
  readonly nanodollars: number;
  /** As the budget counts it. */
  readonly counted: number;
  readonly problems: readonly string[];
}

/** Milliseconds: of all load, until something fails, and how long it does. */
const [loadMs, beforeMs, failureMs] = [14_000, 2_000, 3_000];
/** Gateways look for changes of budgets every two seconds. */
const changesMs = 6_000;
const clientsPerKey = 8;
/** With about five seconds until the gateways of a run have started. */
export const secondsOfRun = (loadMs + changesMs) / 1000 + 5;
const body = JSON.stringify({
  model,
  max_tokens: 20,
  messages: [{ role: 'user', content: '/sim tokens=20' }],
});

export const run = async (gateways: number, disturbance: Disturbance): Promise<Outcome> => {
  const embedded = gateways === 1 && !disturbance.startsWith('Redis');
  const fallback = disturbance.endsWith('local') ? 'local' : 'refuse';
  const stack = await startStack({ gateways, fallback: embedded ? undefined : fallback });
  try {
    await delay(changesMs);
    const until = performance.now() + loadMs;
    const [sent] = await Promise.all([load(stack, until), disturb(stack, disturbance)]);
    const counted = await stack.budgetUsed();
    const { requests } = await stack.billed(stack.keys.requests);
    const { tokens } = await stack.billed(stack.keys.tokens);
    const { nanodollars } = await stack.billed(stack.keys.nanodollars);
    // What a killed gateway answered last is counted by its clients too.
    const started = Math.max(requests, sent.requestsAnswered);
    const used = { requests: started, tokens, nanodollars };
    return {
      ...{ gateways, disturbance, counted, ...used },
      statuses: sent.statuses,
      problems: problemsOf(used, counted, { disturbance, embedded }),
    };
  } finally {
    await stack.stop();
  }
};

const problemsOf = (
  used: Readonly<Record<keyof typeof limits, number>>,
  counted: number,
  { disturbance, embedded }: { readonly disturbance: Disturbance; readonly embedded: boolean },
): string[] => {
  const problems: string[] = [];
  // Without Redis, windows are in the memory of the gateway that is killed.
  const forgotten = embedded && disturbance === 'kills' ? 2 : 1;
  for (const [kind, limit] of Object.entries(limits)) {
    const value = used[kind as keyof typeof limits];
    if (value > limit * (kind === 'nanodollars' ? 1 : forgotten))
      problems.push(`${value} ${kind} of ${limit}`);
    // So much that the limit was met: else the run says nothing.
    if (value < limit / 2) problems.push(`only ${value} ${kind} of ${limit} were used`);
  }
  // A share that a gateway may have used while it was cut off counts as used.
  const slack = disturbance === 'Redis away, local' ? limits.nanodollars / 50 : 0;
  if (counted < used.nanodollars || counted > used.nanodollars + slack)
    problems.push(`the budget counts ${counted} nanodollars, ${used.nanodollars} were billed`);
  return problems;
};

const load = async ({ urls, keys }: Stack, until: number) => {
  const statuses: Record<number, number> = {};
  let requestsAnswered = 0;
  let next = 0;
  const client = async (kind: keyof typeof limits): Promise<void> => {
    while (performance.now() < until) {
      const url = urls[next++ % urls.length] ?? '';
      const status = await ask(url, keys[kind].secret);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status !== 200) await delay(status === 0 ? 200 : 50);
      else if (kind === 'requests') requestsAnswered++;
    }
  };
  const kinds = Object.keys(limits) as (keyof typeof limits)[];
  await Promise.all(kinds.flatMap((kind) => Array.from({ length: clientsPerKey }, () => client(kind))));
  return { statuses, requestsAnswered };
};

const ask = async (url: string, secret: string): Promise<number> => {
  try {
    const response = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(10_000),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
};

const disturb = async ({ gateways, redis }: Stack, disturbance: Disturbance): Promise<void> => {
  await delay(beforeMs / 4);
  if (disturbance === 'kills')
    for (const gateway of gateways) {
      await gateway.kill();
      await gateway.revive();
    }
  if (!disturbance.startsWith('Redis')) return;
  await delay(beforeMs / 4);
  redis?.process?.kill('SIGSTOP');
  await delay(failureMs);
  redis?.process?.kill('SIGCONT');
};
