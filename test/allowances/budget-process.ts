/** A process of `exactness.test.ts`: makes calls under a shared budget until it is stopped or killed. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { firstValueFrom } from 'rxjs';
import { RedisAllowances } from '../../src/adapters/allowances/redis.ts';
import { createLocalEvents } from '../../src/adapters/events/local.ts';
import { openLibsqlLedger } from '../../src/adapters/ledger/libsql.ts';
import { receiveUsage } from '../../src/billing/receive-usage.ts';
import { openUsageLog } from '../../src/billing/usage-log.ts';
import { nanodollars } from '../../src/helpers/decimal.ts';
import type { Allowances } from '../../src/ports/allowances.ts';
import { usageEvent } from '../billing/usage-events.ts';
import { period, perMinute, reserved } from '../contracts/allowances.ts';

const { REDIS_URL = '', TEST_FOLDER = '', TEST_LIMIT = '0', TEST_MODE = 'refuse' } = process.env;
const log = pino({ level: 'warn' }, pino.destination(2));
const ledger = openLibsqlLedger(join(TEST_FOLDER, 'ledger.db'));
const events = createLocalEvents({
  usage: receiveUsage(ledger),
  rejectedFile: join(TEST_FOLDER, 'rejected.log'),
  log,
});
let opened: (allowances: Allowances) => void = () => undefined;
const opening = new Promise<Allowances>((resolve) => {
  opened = resolve;
});
const usage = openUsageLog({
  folder: join(TEST_FOLDER, 'journal'),
  events,
  sync: 'none',
  log,
  adoptMs: 200,
  died: async (dead) => (await opening).died(dead),
});
const allowances = new RedisAllowances(REDIS_URL, {
  process: usage.process,
  ledger,
  markCutOff: (isCutOff) => usage.markCutOff(isCutOff),
  spent: async () => {
    await usage.ship();
    const [total] = await ledger.totals({ from: 0, to: Number.MAX_SAFE_INTEGER }, [], { limit: 1 });
    return nanodollars(total?.cost ?? '0');
  },
  fallback: TEST_MODE === 'local' ? 'local' : 'refuse',
  ttlMs: 1_000,
  patience: 3_000,
  graceMs: 500,
  log,
});
await allowances.check();
opened(allowances);

const claims = [
  { allowance: period('budget', Number(TEST_LIMIT)), amount: 100 },
  { allowance: perMinute('tokens', 1e9), amount: 50 },
];
let running = true;
let next = 0;
const call = async (): Promise<void> => {
  const id = `req_${process.pid}_${next++}`;
  const reservation = await reserved(allowances, id, claims).catch(() => undefined);
  if (reservation === undefined) return delay(5);
  await delay(Math.random() * 10);
  const cost = 1 + Math.floor(Math.random() * 100);
  const text = `0.${String(cost).padStart(9, '0')}`;
  await firstValueFrom(
    usage.record(usageEvent({ id: `usage_${id}`, request_id: id, cost: text, time: Date.now() })),
  );
  reservation.settle([cost, 10]);
};
const workers = Array.from({ length: 4 }, async () => {
  while (running) await call();
});
process.send?.('started');
process.once('disconnect', () => process.exit());
process.once('SIGTERM', async () => {
  running = false;
  await Promise.all(workers);
  await usage.ship();
  await allowances.close();
  await usage.close();
  await ledger.close();
  process.exit();
});
