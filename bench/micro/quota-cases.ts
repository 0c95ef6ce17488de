/** Micro-benchmarks of quotas: a chat request without limits, and one with all of them, reserved and settled. */
import { pino } from 'pino';
import { tokenAccount } from '../../pipelines/conversation/token-account.ts';
import type { BudgetRecord } from '../../schemas/budgets.ts';
import { LocalAllowances } from '../../src/adapters/allowances/local.ts';
import { allowanceAt } from '../../src/budgets/book.ts';
import { createQuotas } from '../../src/budgets/quotas.ts';
import { QuotaStats } from '../../src/budgets/stats.ts';
import type { Quota, Quotas } from '../../src/ports/quotas.ts';
import { createTokenCounts } from '../../src/tokens/token-counts.ts';
import type { MicroCase } from './run.ts';
import { call, caller, exchangeOf, model, requestBody } from './samples.ts';

const budget: BudgetRecord = {
  id: 'bud_0123456789abcdef01234567',
  subscription: caller.subscription,
  amount: '9000000',
  period: 'month',
  time_zone: 'UTC',
  created: 0,
};

const quotasOf = (limited: boolean): Quotas => {
  const found = [allowanceAt(budget, Date.now())];
  const close = () => Promise.resolve();
  return createQuotas({
    // One decision per tick: what is in the window stays small.
    allowances: new LocalAllowances({
      spent: async () => 0,
      clock: { now: () => performance.now() * 1000, after: () => () => undefined },
    }),
    budgets: { of: () => (limited ? found : undefined), isEmpty: !limited, all: () => found, close },
    limits: { of: (_, __, usual) => usual, countsTokens: false, close },
    stats: new QuotaStats(),
    log: pino({ level: 'silent' }),
  });
};

const most = 1_000_000_000;
const limits = { concurrency: 100_000, requests_per_minute: most, tokens_per_minute: most };
const task = { model, call, promptTokens: undefined, hidesReasoning: false, framing: undefined };
const tokenCounts = createTokenCounts({ countTokens: () => Promise.resolve(0) });
const openAccount = tokenAccount({ tokenCounts }, '/chat/completions');
const lease = { waited: 0, release: () => undefined };
const exchange = exchangeOf(requestBody(false));
const plain = { exchange, caller, task, lease };
const keyed = { ...plain, caller: { ...caller, limits } };
const account = openAccount(plain);
const unlimited = { ...plain, account };
const limited = { ...keyed, account };
const quantities = { prompt_tokens: 120, completion_tokens: 64, cached_tokens: 0, reasoning_tokens: 0 };
const event = { quantities, cost: '0.000113' };

const [none, all] = [quotasOf(false), quotasOf(true)];
// What was spent before is known from then on.
await new Promise<void>((resolve) => {
  const first = all.reserve(limited);
  if (first !== undefined && 'subscribe' in first) first.subscribe({ complete: resolve });
  else resolve();
});

export const quotaCases: readonly MicroCase[] = [
  { name: 'quotas: nothing is limited', run: () => none.reserve(unlimited) },
  {
    name: 'quotas: limits of a key, tokens and a budget, reserve and settle',
    run: () => {
      const quota = all.reserve(limited) as Quota;
      quota.expectEvent();
      quota.settle(event);
      quota.end();
    },
  },
];
