/** Tests that recorded usage reaches the ledger through outages, crashes and full journals. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { firstValueFrom } from 'rxjs';
import t from 'tap';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { createLocalEvents } from '../../src/adapters/events/local.ts';
import { openLibsqlLedger } from '../../src/adapters/ledger/libsql.ts';
import { receiveUsage } from '../../src/billing/receive-usage.ts';
import { openUsageLog } from '../../src/billing/usage-log.ts';
import type { Events } from '../../src/ports/events.ts';
import { eventually } from '../eventually.ts';
import { usageEvent } from './usage-events.ts';

const log = pino({ level: 'silent' });
const always = { from: 0, to: Number.MAX_SAFE_INTEGER };

/** Events kept in a list, with a switch that makes the service fail. */
const scriptedEvents = () => {
  const taken: UsageEvent[] = [];
  const state = { down: false };
  const events: Events = {
    publish: async (_topic, messages) => {
      if (state.down) throw new Error('the broker is away');
      taken.push(...messages.map(({ value }) => JSON.parse(value) as UsageEvent));
    },
    check: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  return { events, taken, state };
};

t.test('recorded events reach the ledger, and the journal is gone after a clean stop', async (t) => {
  const folder = t.testdir();
  const ledger = openLibsqlLedger(join(folder, 'ledger.db'));
  const usage = openUsageLog({
    folder: join(folder, 'journal'),
    events: createLocalEvents({
      usage: receiveUsage(ledger),
      rejectedFile: join(folder, 'rejected.log'),
      log,
    }),
    sync: 'none',
    log,
  });
  const events = [usageEvent(), usageEvent(), usageEvent()];
  for (const event of events) await firstValueFrom(usage.record(event));
  await usage.ship();
  t.same(await ledger.list(always, { limit: 10 }), events);
  t.equal(usage.lag(), 0);
  await usage.close();
  t.same(readdirSync(join(folder, 'journal')), []);
  await ledger.close();
});

t.test('while the broker is unavailable nothing is lost, and a later start ships it', async (t) => {
  const folder = t.testdir();
  const { events, taken, state } = scriptedEvents();
  const recorded = [usageEvent(), usageEvent()];
  state.down = true;
  const first = openUsageLog({ folder, events, sync: 'none', log });
  for (const event of recorded) await firstValueFrom(first.record(event));
  await t.rejects(first.ship(), /away/);
  t.ok(first.lag() > 0);
  await first.close();
  state.down = false;
  const second = openUsageLog({ folder, events, sync: 'none', log });
  await second.ship();
  t.same(taken, recorded);
  await second.close();
  t.same(readdirSync(folder), []);
});

t.test('a journal in use is not taken over by another start', async (t) => {
  const folder = t.testdir();
  const { events, taken } = scriptedEvents();
  const child = writerProcess(folder);
  await once(child.stdout, 'data');
  const second = openUsageLog({ folder, events, sync: 'none', log });
  await second.ship();
  t.same(taken, [], 'the running process keeps its journal');
  await second.close();
  child.kill('SIGKILL');
  await once(child, 'exit');
  const third = openUsageLog({ folder, events, sync: 'none', log });
  await third.ship();
  t.equal(taken.length, 500, 'every acknowledged event of the killed process');
  t.equal(new Set(taken.map((event) => event.id)).size, 500);
  await third.close();
});

t.test('a running process takes over the journal of a dead one', async (t) => {
  const folder = t.testdir();
  const { events, taken } = scriptedEvents();
  const running = openUsageLog({ folder, events, sync: 'none', log, adoptMs: 20 });
  const child = writerProcess(folder);
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  await eventually(() => taken.length === 500 && readdirSync(folder).length === 1);
  t.equal(new Set(taken.map((event) => event.id)).size, 500);
  await running.close();
  t.same(readdirSync(folder), []);
});

t.test('usage that cannot be shipped fills the journal to its bound, then new work is refused', async (t) => {
  const folder = t.testdir();
  const { events, taken, state } = scriptedEvents();
  state.down = true;
  const usage = openUsageLog({ folder, events, sync: 'none', maxBytes: 50_000, log });
  const recorded: UsageEvent[] = [];
  const recordOne = async () => {
    usage.ensureOpen();
    const event = usageEvent();
    await firstValueFrom(usage.record(event));
    recorded.push(event);
  };
  await t.rejects(
    async () => {
      for (let count = 0; count < 1000; count++) await recordOne();
    },
    { kind: 'unavailable', message: /too much waits to be shipped/ },
  );
  t.ok(recorded.length > 50);
  state.down = false;
  await usage.ship();
  t.doesNotThrow(() => usage.ensureOpen(), 'open again');
  await recordOne();
  await usage.ship();
  t.same(taken, recorded, 'everything once, in order');
  await usage.close();
});

t.test('events that can never be counted are dead-lettered and block nothing', async (t) => {
  const folder = t.testdir();
  const ledger = openLibsqlLedger(join(folder, 'ledger.db'));
  const rejectedFile = join(folder, 'rejected.log');
  const events = createLocalEvents({ usage: receiveUsage(ledger), rejectedFile, log });
  const good = usageEvent();
  const old = { ...usageEvent(), schema: 99 };
  const messages = [old, good, { id: 'x' }].map((event) => ({ key: 'k', value: JSON.stringify(event) }));
  await events.publish('usage', messages);
  t.same(await ledger.list(always, { limit: 10 }), [good]);
  const lines = readFileSync(rejectedFile, 'utf8').trimEnd().split('\n');
  t.match(
    lines.map((line) => JSON.parse(line)),
    [
      { reason: /^not a usage event of version 1: \/schema /, value: messages[0]?.value },
      { reason: /^not a usage event of version 1/, value: messages[2]?.value },
    ],
  );
  await ledger.close();
  await t.rejects(
    events.publish('usage', [{ key: 'k', value: JSON.stringify(usageEvent()) }]),
    /ledger is unavailable/,
  );
});

/** Records 500 events, says so, and then hangs until it is killed. */
const writerProcess = (folder: string) =>
  spawn(process.execPath, ['--import=tsx', join(import.meta.dirname, 'journal-writer.ts'), folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
