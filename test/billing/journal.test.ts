/** Tests the usage journal: durability, torn lines, segments, sync policies and bounds. */
import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { pino } from 'pino';
import { firstValueFrom } from 'rxjs';
import t from 'tap';
import { openDamage, readDamage } from '../../src/billing/journal/damage.ts';
import { decodeLine, LineEncoder } from '../../src/billing/journal/line.ts';
import { readBatch } from '../../src/billing/journal/reader.ts';
import { Recent } from '../../src/billing/journal/recent.ts';
import { listSegments, segmentBytes, segmentPath, start } from '../../src/billing/journal/segments.ts';
import { type JournalOptions, JournalWriter } from '../../src/billing/journal/writer.ts';

const log = pino({ level: 'silent' });

const itself = (json: string): string => json;

const encodeLine = (json: string): string => new LineEncoder().encode([json], itself).toString();

const open = (folder: string, options: Partial<JournalOptions<string>> = {}): JournalWriter<string> =>
  new JournalWriter({
    folder,
    log,
    damage: openDamage(folder, log),
    sync: 'none',
    json: itself,
    ...options,
  });

const append = (journal: JournalWriter<string>, events: readonly string[]): Promise<unknown> =>
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

t.test('appended events are read in order, across restarts and segments', async (t) => {
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

t.test('a tail torn at any byte loses only the torn line, which is recorded', async (t) => {
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
    // An event that lacks only its newline is whole.
    const survivors = written.filter((_, i) => (lineEnds[i] ?? 0) - 1 <= cut);
    t.same(readAll(folder), { events: [...survivors, '"after"'], damaged: 0 }, `cut at ${cut}`);
    const lastEnd = lineEnds.findLast((end) => end - 1 <= cut) ?? 0;
    const bytes = Math.max(0, cut - lastEnd);
    t.match(
      readDamage(folder, 'torn'),
      bytes === 0 ? [] : [{ segment: 1, offset: lastEnd, bytes, time: /^20.*Z$/ }],
    );
    t.same(readDamage(folder, 'damaged'), [], 'a crash is no damage');
  }
});

t.test('a tail that no interrupted write leaves is damage', async (t) => {
  const parent = t.testdir();
  const [one, two] = [encodeLine('{"n":1}'), encodeLine('{"n":2,"s":"a\\"}{"}')];
  const tails: Record<string, string | Buffer> = {
    zeros: Buffer.alloc(40),
    'a line whose newline was lost, and its successor': `${two.slice(0, -1)}${two.slice(0, -3)}`,
    'an altered line without its newline': two.replace('"n":2', '"n":3').slice(0, -1),
    'no checksum': '{"n":2',
    'no space': '561bacaf{"n":2',
  };
  for (const [name, tail] of Object.entries(tails)) {
    const folder = join(parent, name.replaceAll(' ', '-'));
    mkdirSync(folder);
    writeFileSync(segmentPath(folder, 1), one);
    appendFileSync(segmentPath(folder, 1), tail);
    const journal = open(folder);
    await append(journal, ['{"after":1}']);
    journal.close();
    t.same(readAll(folder), { events: ['{"n":1}', '{"after":1}'], damaged: 0 }, name);
    t.match(readDamage(folder, 'damaged'), [
      { segment: 1, offset: one.length, bytes: Buffer.from(tail).length },
    ]);
    t.same(readDamage(folder, 'torn'), []);
  }
});

t.test('a complete last line that does not read is kept for whoever ships it', async (t) => {
  const folder = t.testdir();
  writeFileSync(segmentPath(folder, 1), `${encodeLine('{"n":1}')}${encodeLine('{"n":2}').replace('2', '3')}`);
  open(folder).close();
  t.same(readAll(folder), { events: ['{"n":1}'], damaged: 1 });
});

t.test('a corrupt line is dead-lettered, its neighbours are read', async (t) => {
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

t.test('every sync policy keeps acknowledged events, in order, across segments', async (t) => {
  const written = Array.from({ length: 300 }, (_, n) => JSON.stringify({ n }));
  for (const sync of ['none', 'always', { intervalMs: 1 }] as const) {
    const folder = t.testdir();
    const journal = open(folder, { sync, segmentBytes: 500 });
    // Several ticks of the event loop while a sync is under way.
    const kept: Promise<unknown>[] = [];
    for (let i = 0; i < 200; i += 10) {
      kept.push(append(journal, written.slice(i, i + 10)));
      await new Promise(setImmediate);
    }
    await Promise.all(kept);
    t.same(readAll(folder).events, written.slice(0, 200));
    const last = append(journal, written.slice(200));
    journal.close();
    await last;
    t.same(readAll(folder).events, written, 'closing keeps what was under way');
    if (sync === 'none') t.ok(listSegments(folder).length > 1);
    await t.rejects(firstValueFrom(journal.append('{}')), /cannot be recorded/, 'closed');
    journal.close();
  }
});

t.test('a journal with a small bound opens again once it was shipped', async (t) => {
  const folder = t.testdir();
  const journal = open(folder, { maxBytes: 10_000 });
  for (let i = 0; i < 300; i++) await append(journal, [JSON.stringify('x'.repeat(50))]);
  t.throws(() => journal.ensureOpen(), /too much waits to be shipped/);
  for (const segment of listSegments(folder).slice(0, -1)) journal.released(segmentBytes(folder, segment));
  t.doesNotThrow(() => journal.ensureOpen());
  journal.close();
});

/** A disk that takes so many bytes more, half a line too, and then none. */
const smallDisk = (room: number) => {
  const disk = { room };
  const write: JournalOptions<string>['write'] = (file, bytes, offset) => {
    const taken = Math.min(disk.room, bytes.length - offset);
    if (taken === 0) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    disk.room -= taken;
    return writeSync(file, bytes, offset, taken);
  };
  return { disk, write };
};

t.test(
  'a full disk refuses new work, and keeps what is under way as long as its reserve lasts',
  async (t) => {
    const folder = t.testdir();
    const { disk, write } = smallDisk(100);
    const journal = open(folder, { write, reserveBytes: 1000 });
    const reserve = join(folder, 'reserve');
    t.equal(statSync(reserve).size, 1000);
    await append(journal, ['{"n":1}', '{"n":2}']);
    t.doesNotThrow(() => journal.ensureOpen());

    // The next write tears; giving up the reserve makes room for it.
    const torn = append(journal, [JSON.stringify('x'.repeat(200))]);
    disk.room = 50;
    await t.rejects(torn, { kind: 'unavailable', message: 'Usage cannot be recorded at the moment' });
    t.notOk(existsSync(reserve), 'the reserve was given up');
    disk.room = 1000;
    t.same(readAll(folder), { events: ['{"n":1}', '{"n":2}'], damaged: 0 }, 'half a line was cut off');
    await append(journal, ['{"n":3}']);

    t.doesNotThrow(() => journal.ensureOpen(), 'the reserve could be taken again');
    t.equal(statSync(reserve).size, 1000);
    await append(journal, ['{"n":4}']);
    journal.close();
    t.same(readAll(folder).events, ['{"n":1}', '{"n":2}', '{"n":3}', '{"n":4}']);
  },
);

t.test('lines of any length, many at once', async (t) => {
  const encoder = new LineEncoder();
  const texts = ['""', JSON.stringify('€'.repeat(100_000)), '{}', JSON.stringify('x'.repeat(300_000))];
  for (const some of [texts, texts.slice(2), texts])
    t.equal(encoder.encode(some, itself).toString(), some.map(encodeLine).join(''));
  t.equal(encodeLine('{"a":1}'), '561bacaf {"a":1}\n');
});

t.test('a line is read back exactly, and any altered byte is detected', async (t) => {
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

t.test('recent writes are available from any reader position', async (t) => {
  await fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 20 }),
      fc.integer({ min: 1, max: 99 }),
      (writes, maxBytes) => {
        const recent = new Recent<number>();
        let offset = 0;
        let number = 0;
        for (const count of writes) {
          const numbers = Array.from({ length: count }, () => number++);
          const bytes = 10 * count;
          recent.add({ segment: 1, offset }, bytes, numbers);
          offset += bytes;
        }
        const seen: number[] = [];
        let place = { segment: 1, offset: 0 };
        for (
          let batch = recent.from(place, maxBytes);
          batch !== undefined;
          batch = recent.from(place, maxBytes)
        ) {
          assert.ok(batch.next.offset - place.offset <= maxBytes);
          seen.push(...batch.entries);
          place = batch.next;
        }
        assert.deepEqual(
          seen,
          Array.from({ length: place.offset / 10 }, (_, index) => index),
        );
        assert.ok(
          place.offset === offset || maxBytes < 50,
          'all of it, unless a write is larger than a batch',
        );
      },
    ),
  );
  const recent = new Recent<number>();
  recent.add({ segment: 1, offset: 0 }, 10, [0]);
  recent.add({ segment: 2, offset: 0 }, 10, [1]);
  t.equal(recent.from({ segment: 1, offset: 5 }, 100), undefined, 'not from the middle of a write');
  t.equal(recent.from({ segment: 1, offset: 10 }, 100), undefined, 'the next segment is begun by its file');
  t.same(recent.from({ segment: 2, offset: 0 }, 100)?.next, { segment: 2, offset: 10 });
});

t.test('old writes are evicted by new ones', async (t) => {
  const recent = new Recent<number>();
  const megabyte = 1024 * 1024;
  for (let count = 0; count < 20; count++)
    recent.add({ segment: 1, offset: count * megabyte }, megabyte, [count]);
  t.equal(recent.from({ segment: 1, offset: 0 }, 100 * megabyte), undefined, 'read from the file');
  const last = recent.from({ segment: 1, offset: 19 * megabyte }, 100 * megabyte);
  t.same(last?.entries, [19]);
});
