/** Tests that the cost of a job is reserved until it has ended, also after a restart. */
import { pino } from 'pino';
import t from 'tap';
import type { JobRecord } from '../../schemas/jobs.ts';
import { LocalAllowances } from '../../src/adapters/allowances/local.ts';
import { openBudgetsBook } from '../../src/budgets/book.ts';
import { createQuotas } from '../../src/budgets/quotas.ts';
import { QuotaStats } from '../../src/budgets/stats.ts';
import { resumeQuotas } from '../../src/jobs/resume-quotas.ts';
import { openLimitsBook } from '../../src/limits/book.ts';
import { createModelState } from '../contracts/state-model.ts';
import { eventually } from '../eventually.ts';
import { startBudgetGateway } from './client.ts';

t.test('songs of a key', async (t) => {
  const { gateway, limited, known, post } = await startBudgetGateway();
  t.teardown(() => gateway.stop());
  const key = await limited({ amount: '0.05', period: 'total' });
  await known();
  const song = (render: string) =>
    post(key.secret, '/music', { model: 'sluice/music', prompt: `/sim render=${render}`, duration: 10 });
  const call = (method: string, path: string) =>
    fetch(`${gateway.url}${path}`, { method, headers: { authorization: `Bearer ${key.secret}` } });

  // 0.02 dollars each.
  const first = await song('60s');
  t.equal(first.status, 202);
  t.equal((await song('60s')).status, 202);
  t.match(await song('60s'), {
    status: 429,
    retryAfter: null,
    shouldRetry: 'false',
    body: {
      error: {
        message: `This request could cost 0.02 USD, and the budget ${key.budget} of 0.05 USD in all has 0.01 USD left`,
        metadata: { budget: { id: key.budget, remaining: '0.01', resets_at: null } },
      },
    },
  });
  const { id } = first.body as { id: string };
  t.equal((await call('DELETE', `/music/${id}`)).status, 200);
  const short = await eventually(async () => {
    const begun = await song('10ms');
    return begun.status === 202 && begun;
  }, 'a cancelled job has given back what it reserved');
  const done = short.body as { id: string };
  await eventually(async () => {
    const job = (await (await call('GET', `/music/${done.id}`)).json()) as { status: string };
    return job.status === 'completed';
  }, 'the song is rendered');
  t.match(await song('60s'), { status: 429 }, 'one is paid for, one is reserved');
});

t.test('after a restart', async (t) => {
  const state = createModelState();
  const claims = [{ name: 'bud_1:0', limit: 100, start: 0, end: null, amount: 60 }];
  const job = { type: 'music', subscription: 'sub_1', status: 'pending', claims } as Partial<JobRecord>;
  const create = (id: string, value: object) =>
    state.create('music-job', { id, owner: 'sub_1', value: { ...job, id, ...value } });
  await create('music_1', {});
  await create('music_2', { status: 'completed', settled: true });
  const log = pino({ level: 'silent' });
  const allowances = new LocalAllowances({ spent: async () => 30 });
  const limits = await openLimitsBook(state, { log });
  const budgets = await openBudgetsBook(state, { log });
  t.teardown(() => Promise.all([allowances.close(), limits.close(), budgets.close()]));
  const quotas = createQuotas({ allowances, limits, budgets, stats: new QuotaStats(), log });
  await resumeQuotas(state, quotas);
  const allowance = {
    name: 'bud_1:0',
    limit: 100,
    span: { kind: 'period', start: 0, end: undefined },
  } as const;
  t.strictSame(await allowances.used([allowance]), [{ used: 90, reserved: 60 }]);
  await quotas.settleJob('music_1', claims, '0.00000005');
  t.strictSame(await allowances.used([allowance]), [{ used: 80, reserved: 0 }]);
  await quotas.settleJob('music_1', claims, '0.00000005');
  t.strictSame(await allowances.used([allowance]), [{ used: 80, reserved: 0 }], 'once');
});
