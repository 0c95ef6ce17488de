import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { pino } from 'pino';
import { firstValueFrom } from 'rxjs';
import t from 'tap';
import { decodeLine, encodeLine } from '../../src/billing/journal/line.ts';
import { readBatch } from '../../src/billing/journal/reader.ts';
import { listSegments, segmentBytes, segmentPath, start } from '../../src/billing/journal/segments.ts';
import { type JournalOptions, JournalWriter } from '../../src/billing/journal/writer.ts';

const log = pino({ level: 'silent' });

const open = (folder: string, options: Partial<JournalOptions> = {}): JournalWriter =>
  new JournalWriter({ folder, log, sync: 'none', ...options });

const append = (journal: JournalWriter, events: readonly string[]): Promise<unknown> =>
  Promise.all(events.map((event) => firstValueFrom(journal.append(event))));

/** Everything on disk, read in batches of the given size. */
const readAll = (folder: string, batchBytes?: number): { events: string[]; damaged: number } => {
  const events: string[] = [];
  let damaged = 0;
  let cursor = start;
  const last = listSegments(folder).at(-1) ?? 0;
  const end = { segment: last, offset: last === 0 ? 0 : segmentBytes(folder, last) };
  for (let turn = 0; turn < 10_000; turn++) {
    const batch = readBatch(folder, cursor, end, batchBytes);
    if (batch === undefined) return { events, damaged };
    events.push(...batch.events);
    damaged += batch.damaged.length;
    cursor = batch.next;
  }
  throw new Error('the journal has no end');
};

t.test('what was appended is read back in order, across restarts and segments', async (t) => {
  const folder = t.testdir();
  const written = Array.from({ length: 200 }, (_, i) => JSON.stringify({ i, text: 'ü'.repeat(i % 7) }));
  const first = open(folder, { segmentBytes: 1000 });
  for (let i = 0; i < 100; i += 10) await append(first, written.slice(i, i + 10));
  first.close();
  const second = open(folder, { segmentBytes: 1000 });
  await append(second, written.slice(100));
  second.close();
  t.ok(listSegments(folder).length > 2, 'rotated');
  t.same(readAll(folder), { events: written, damaged: 0 });
  t.same(readAll(folder, 50), { events: written, damaged: 0 }, 'also in small batches');
});

t.test('a tail torn at any byte loses only the line it tore', async (t) => {
  const written = ['{"a":1}', '{"b":"zwölf"}', '{"c":[1,2,3]}'];
  const whole = Buffer.from(written.map(encodeLine).join(''));
  const lineEnds = written.map((_, i) =>
    Buffer.byteLength(
      written
        .slice(0, i + 1)
        .map(encodeLine)
        .join(''),
    ),
  );
  const parent = t.testdir();
  for (let cut = 0; cut <= whole.length; cut++) {
    const folder = join(parent, String(cut));
    mkdirSync(folder);
    writeFileSync(segmentPath(folder, 1), whole.subarray(0, cut));
    const journal = open(folder);
    await append(journal, ['"after"']);
    journal.close();
    const survivors = written.filter((_, i) => (lineEnds[i] ?? 0) <= cut);
    t.same(readAll(folder), { events: [...survivors, '"after"'], damaged: 0 }, `cut at ${cut}`);
  }
});

t.test('a line altered in the middle is set aside, its neighbours are read', async (t) => {
  const folder = t.testdir();
  const journal = open(folder);
  await append(journal, ['{"n":1}', '{"n":2}', '{"n":3}']);
  journal.close();
  const path = segmentPath(folder, 1);
  writeFileSync(path, readFileSync(path, 'utf8').replace('{"n":2}', '{"n":9}'));
  t.same(readAll(folder), { events: ['{"n":1}', '{"n":3}'], damaged: 1 });
});

t.test('a closed segment without a last newline does not stop the reader', async (t) => {
  const folder = t.testdir();
  const journal = open(folder);
  await append(journal, ['{"n":1}']);
  journal.close();
  appendFileSync(segmentPath(folder, 1), 'half a li');
  writeFileSync(segmentPath(folder, 2), encodeLine('{"n":2}'));
  t.same(readAll(folder), { events: ['{"n":1}', '{"n":2}'], damaged: 1 });
});

t.test(
  'past its size bound the journal refuses new work, and opens again when segments are shipped',
  async (t) => {
    const folder = t.testdir();
    const journal = open(folder, { segmentBytes: 100, maxBytes: 300 });
    for (let i = 0; i < 10; i++) await append(journal, [JSON.stringify('x'.repeat(50))]);
    t.throws(() => journal.ensureOpen(), /too much waits to be shipped/);
    for (const segment of listSegments(folder).slice(0, -1)) journal.released(segmentBytes(folder, segment));
    t.doesNotThrow(() => journal.ensureOpen());
    journal.close();
  },
);

t.test('every policy of syncing keeps what it acknowledged', async (t) => {
  for (const sync of ['none', 'always', { intervalMs: 5 }] as const) {
    const folder = t.testdir();
    const journal = open(folder, { sync });
    await append(journal, ['{"n":1}', '{"n":2}']);
    t.same(readAll(folder).events, ['{"n":1}', '{"n":2}']);
    journal.close();
  }
});

t.test('a line reads back exactly, and no single altered byte passes', async (t) => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.integer({ min: 1, max: 255 }), (json, position, change) => {
      const line = Buffer.from(encodeLine(json)).subarray(0, -1);
      const altered = Buffer.from(line);
      const at = position % line.length;
      altered[at] = (altered[at] ?? 0) ^ change;
      return decodeLine(line) === json && decodeLine(altered) === undefined;
    }),
  );
  t.pass();
});
