/** Runs short chaos tests on the embedded stores, then on Kafka and ClickHouse. */
import t from 'tap';
import { usageEvent } from '../billing/usage-events.ts';
import { createModelLedger } from '../contracts/ledger-model.ts';
import { patiently } from '../eventually.ts';
import { onlyLong } from '../long.ts';
import { clickHouseMissing } from '../services/clickhouse.ts';
import { kafkaMissing } from '../services/kafka.ts';
import { type ChaosOptions, runChaos } from './chaos.ts';
import type { Sight } from './load.ts';
import { isGood, judge } from './verdict.ts';

const short: Omit<ChaosOptions, 'services' | 'kills' | 'milliseconds'> = {
  seed: 7,
  gateways: 2,
  clients: 8,
  pause: [200, 1200],
  absence: [0, 500],
  settle: patiently(30_000),
};

t.test('the verdict detects every fault', async (t) => {
  const price = { prompt: '0.0000001', completion: '0.0000002' };
  const ledger = createModelLedger();
  const completed = (id: string, tokens = 5): Sight => ({
    id,
    outcome: 'completed',
    tokens,
    usage: { prompt_tokens: 10, completion_tokens: tokens },
  });
  const failed = (id: string): Sight => ({ id, outcome: 'failed', tokens: 5 });
  await ledger.insert([
    usageEvent({ request_id: 'good' }),
    usageEvent({ request_id: 'wrong', cost: '0.000003' }),
    usageEvent({ request_id: 'short' }),
    usageEvent({ request_id: 'billed' }),
    usageEvent({ request_id: 'refused', outcome: 'failed', cost: '0' }),
  ]);
  const stack = { ledger, price };
  const sights = [
    completed('good'),
    completed('wrong'),
    completed('short', 9),
    completed('lost'),
    failed('billed'),
    failed('refused'),
    failed('unknown'),
  ];
  const verdict = await judge(stack, sights);
  t.match(verdict, {
    sent: 7,
    completed: 4,
    failed: 3,
    ledger: 5,
    missing: ['lost'],
    duplicated: [],
    wrong: ['wrong', 'short'],
    billedFailures: ['billed'],
  });
  t.notOk(isGood(verdict));
  t.ok(isGood(await judge(stack, [completed('good'), failed('refused')])));
  const list = ledger.list.bind(ledger);
  const twice = {
    ...ledger,
    list: async (...page: Parameters<typeof list>) => (await list(...page)).flatMap((e) => [e, e]),
  };
  t.equal((await judge({ ledger: twice, price }, [])).duplicated.length, 5);
});

t.test(
  'gateways on embedded stores, killed under load',
  { skip: onlyLong, timeout: patiently(60_000) },
  async (t) => {
    const outcome = await runChaos({
      ...short,
      services: false,
      milliseconds: 6_000,
      kills: 4,
    });
    t.match(outcome, { good: true, verdict: { missing: [], duplicated: [], wrong: [], billedFailures: [] } });
    t.ok(outcome.verdict.completed > 0, `${outcome.verdict.completed} completed`);
  },
);

const missing = kafkaMissing({ own: true }) ?? clickHouseMissing({ own: true });
t.test(
  'with Kafka, ClickHouse and readers killed too',
  { skip: missing ?? false, timeout: patiently(110_000) },
  async (t) => {
    const outcome = await runChaos({
      ...short,
      services: true,
      milliseconds: 10_000,
      kills: 6,
      settle: patiently(60_000),
    });
    t.match(outcome, { good: true, verdict: { missing: [], duplicated: [], wrong: [], billedFailures: [] } });
    t.ok(outcome.verdict.completed > 0, `${outcome.verdict.completed} completed`);
  },
);
