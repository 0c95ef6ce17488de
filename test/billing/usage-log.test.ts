/** Tests that recorded usage reaches the ledger through outages, crashes and full journals. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { firstValueFrom } from 'rxjs';
import t from 'tap';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { createLocalEvents } from '../../src/adapters/events/local.ts';
import { openLibsqlLedger } from '../../src/adapters/ledger/libsql.ts';
import { eventJson } from '../../src/billing/event-json.ts';
import { openDamage } from '../../src/billing/journal/damage.ts';
import { Recent } from '../../src/billing/journal/recent.ts';
import { JournalWriter } from '../../src/billing/journal/writer.ts';
import { messagesOfLines } from '../../src/billing/messages.ts';
import { receiveUsage } from '../../src/billing/receive-usage.ts';
import { startShipper } from '../../src/billing/shipper.ts';
import { openUsageLog } from '../../src/billing/usage-log.ts';
import { differs, verifyUsage } from '../../src/billing/verify.ts';
import { nanodollars } from '../../src/helpers/decimal.ts';
import type { DeadProcess } from '../../src/ports/allowances.ts';
import type { EventMessage, Events } from '../../src/ports/events.ts';
import { eventually } from '../eventually.ts';
import { onlyLong } from '../long.ts';
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
      taken.push(...messages.map(({ value }) => JSON.parse(String(value)) as UsageEvent));
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

t.test('an adapter that takes bytes gets those of the journal', async (t) => {
  const folder = t.testdir();
  const published: EventMessage[] = [];
  const events: Events = {
    takesBytes: true,
    publish: async (_topic, messages) => {
      published.push(...messages);
    },
    check: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const usage = openUsageLog({ folder, events, sync: 'none', log });
  // The first one is read from the file.
  await firstValueFrom(usage.record(usageEvent()));
  await usage.ship();
  published.length = 0;
  const recorded = [
    usageEvent({ subscription: 'sub_ü', model: 'far/模型 "🎵"\n' }),
    ...Array.from({ length: 200 }, () => usageEvent({ subscription: 'sub_b' })),
  ];
  // Several in one write, and several writes.
  for (let at = 0; at < recorded.length; at += 50)
    await Promise.all(recorded.slice(at, at + 50).map((event) => firstValueFrom(usage.record(event))));
  await usage.ship();
  t.ok(published.every(({ value, event }) => Buffer.isBuffer(value) && event === undefined));
  t.strictSame(
    published.map(({ key, value }) => ({ key, value: String(value) })),
    recorded.map((event) => ({ key: event.subscription, value: eventJson(event) })),
  );
  await usage.close();
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

t.test('what is recorded during a publication waits for the next one', async (t) => {
  const folder = t.testdir();
  const publications: number[] = [];
  let acknowledge = (): void => undefined;
  const events: Events = {
    publish: (_topic, messages) => {
      publications.push(messages.length);
      return new Promise((resolve) => {
        acknowledge = resolve;
      });
    },
    check: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const damage = openDamage(folder, log);
  const recent = new Recent<EventMessage>(() => shipper.hurry(), 10);
  const writer = new JournalWriter<UsageEvent>({
    folder,
    json: eventJson,
    written: (place, lines, written) => recent.add(place, lines.length, messagesOfLines(lines, written)),
    log,
    damage,
    sync: 'none',
  });
  const shipper = startShipper({
    folder,
    events,
    log,
    damage,
    end: () => writer.end,
    recent,
    idleMs: 60_000,
  });
  const record = async (count: number): Promise<void> => {
    for (let number = 0; number < count; number++) await firstValueFrom(writer.append(usageEvent()));
  };
  await record(10);
  await eventually(() => publications.length === 1);
  await record(3);
  acknowledge();
  await record(6);
  t.strictSame(publications, [10], 'nine are not worth a publication of their own');
  await record(1);
  await eventually(() => publications.length === 2);
  t.strictSame(publications, [10, 10], 'ten are');
  await record(2);
  const shipped = shipper.drain();
  acknowledge();
  await eventually(() => publications.length === 3);
  acknowledge();
  await shipped;
  t.strictSame(publications, [10, 10, 2], 'all that was recorded before it was asked for');
  t.equal(shipper.lag(), 0);
  await shipper.stop();
  writer.close();
});

t.test(
  'what a dead process charged last is reported once its journal is shipped',
  { skip: onlyLong },
  async (t) => {
    const folder = t.testdir();
    const { events, taken } = scriptedEvents();
    const child = writerProcess(folder);
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const dead = readdirSync(folder)[0] ?? '';
    writeFileSync(join(folder, dead, 'cut-off'), '');
    const reports: DeadProcess[] = [];
    let shipped = 0;
    const running = openUsageLog({
      folder,
      events,
      sync: 'none',
      log,
      adoptMs: 20,
      died: async (report) => {
        reports.push(report);
        shipped = taken.length;
        if (reports.length === 1) throw new Error('Redis is away');
      },
    });
    t.not(running.process, dead);
    await eventually(() => reports.length > 0);
    t.ok(readdirSync(folder).includes(dead), 'it stays until that is known elsewhere');
    await eventually(() => readdirSync(folder).length === 1);
    t.equal(reports.length, 2);
    t.equal(shipped, 500);
    const [report] = reports;
    t.match(report, { process: dead, cutOff: true });
    t.same(
      report?.charges,
      taken.map(({ request_id, cost }) => ({ id: request_id, cost: nanodollars(cost) })),
    );
    running.markCutOff(true);
    t.ok(readdirSync(join(folder, running.process)).includes('cut-off'));
    running.markCutOff(false);
    running.markCutOff(false);
    t.notOk(readdirSync(join(folder, running.process)).includes('cut-off'));
    await running.close();
    t.same(readdirSync(folder), []);
  },
);

t.test(
  'damaged lines of a dead process are set aside, counted and found by verify',
  { skip: onlyLong },
  async (t) => {
    const folder = t.testdir();
    const { events, taken, state } = scriptedEvents();
    const child = writerProcess(folder);
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const journal = readdirSync(folder)[0] ?? '';
    const path = join(folder, journal, '0000000001.journal');
    const lines = readFileSync(path, 'utf8').split('\n');
    // The last two acknowledged lines; behind them the start of one that was not.
    const damaged = lines.slice(498, 500).map((line) => line.replace('"cost":"', '"cost":"9'));
    const torn = lines[0]?.slice(0, 100) ?? '';
    writeFileSync(path, [...lines.slice(0, 498), ...damaged, torn].join('\n'));

    const logged: { level: number; msg: string }[] = [];
    const listening = pino({ level: 'warn' }, { write: (line: string) => logged.push(JSON.parse(line)) });
    state.down = true;
    const usage = openUsageLog({ folder, events, sync: 'none', log: listening });
    await t.rejects(usage.ship(), /away/);
    await t.rejects(usage.ship(), /away/);
    state.down = false;
    await usage.ship();
    t.equal(taken.length, 498);
    t.strictSame(usage.damage(), { damaged: 2, torn: 1 }, 'each once, however often it was read');
    const offset = Buffer.byteLength(lines.slice(0, 498).join('\n')) + 1;
    const entries = readFileSync(join(folder, 'damaged.log'), 'utf8').trimEnd().split('\n');
    t.match(
      entries.map((entry) => JSON.parse(entry)),
      [
        { time: /^20.*Z$/, journal, segment: 1, offset, bytes: damaged[0]?.length, base64: String },
        { journal, segment: 1, bytes: damaged[1]?.length },
      ],
    );
    t.equal(Buffer.from(JSON.parse(entries[0] ?? '').base64, 'base64').toString(), damaged[0]);
    t.match(
      logged.filter(({ msg }) => msg.includes('journal line')),
      [
        { level: 40, msg: 'torn last journal line removed', bytes: 100 },
        { level: 50, msg: 'journal line damaged and set aside', segment: 1, offset },
        { level: 50, msg: 'journal line damaged and set aside', segment: 1 },
      ],
    );
    await usage.close();

    const ledger = { find: async () => taken };
    const report = await verifyUsage({ journals: folder, ledger });
    t.match(report, { journal: { waiting: 0, damaged: 0, set_aside: { length: 2 }, torn: 1 } });
    t.match(
      report.journal.set_aside[0],
      new RegExp(`^\\d+ bytes of journal ${journal}, segment 1 at ${offset}, set`),
    );
    t.ok(differs(report), 'while they are there');
    const next = openUsageLog({ folder, events, sync: 'none', log: listening });
    t.match(logged.at(-1), { level: 50, msg: 'damaged.log has usage that was never billed', lines: 2 });
    await next.close();
    renameSync(join(folder, 'damaged.log'), join(folder, 'damaged-2026-11.log'));
    t.notOk(differs(await verifyUsage({ journals: folder, ledger })), 'torn lines are no difference');
  },
);

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
