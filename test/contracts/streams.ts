/** The contract suite of Streams adapters. `open` returns gateways that share their streams; one alone is asked twice. */
import assert from 'node:assert/strict';
import type { Test } from 'tap';
import { ApiError } from '../../src/errors.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import type { KeptStream, NewStream, StreamLog, Streams } from '../../src/ports/streams.ts';
import { eventually } from '../eventually.ts';

export interface StreamsSetting {
  /** Bytes of one log. */
  readonly streamBytes: number;
  /** Where streams are written, and where they are read. */
  readonly writer: Streams;
  readonly reader: Streams;
}

const eventText = (number: number, size = 20): string => `id: ${number}\ndata: ${'x'.repeat(size)}é\n\n`;

/** A source that notes what happens to it, and writes a last event when it is cancelled. */
class Source {
  paused = false;
  cancelled = 0;
  failures = 0;
  log: StreamLog | undefined;
  next = 0;

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
  }

  cancel(): void {
    this.cancelled++;
    this.write(1);
    this.log?.end();
  }

  fail(): void {
    this.failures++;
    this.cancel();
  }

  live(): never {
    throw new Error('no request');
  }

  write(count: number, size?: number): string {
    let text = '';
    for (let left = count; left > 0; left--) text += eventText(this.next++, size);
    this.log?.append(text, count);
    return text;
  }
}

/** Text of a reader so far. */
class Reading {
  text = '';
  done = false;
  error: unknown;
  readonly backpressure = new Backpressure();
  readonly unsubscribe: () => void;

  constructor(stream: KeptStream, after: number) {
    const subscription = stream.read(after, this.backpressure).subscribe({
      next: (text) => {
        this.text += typeof text === 'string' ? text : Buffer.from(text).toString();
      },
      error: (error: unknown) => {
        this.error = error;
      },
      complete: () => {
        this.done = true;
      },
    });
    this.unsubscribe = () => subscription.unsubscribe();
  }
}

let streams = 0;

export const streamsContract = async (t: Test, setting: StreamsSetting): Promise<void> => {
  const { writer, reader, streamBytes } = setting;

  const begin = async (change: Partial<NewStream> = {}): Promise<{ id: string; source: Source }> => {
    const id = `s${process.pid}x${++streams}`;
    const source = new Source();
    source.log = writer.open({ id, subscription: 'sub_1', graceMs: 20_000, source, ...change });
    await source.log.publish();
    return { id, source };
  };
  const find = async (id: string): Promise<KeptStream> => {
    const found = await reader.find(id, 'sub_1');
    assert(found !== undefined, `${id} is found`);
    return found;
  };

  t.test('a stream is replayed after any of its events, byte for byte', async (t) => {
    const { id, source } = await begin();
    let whole = '';
    for (let count = 1; count <= 8; count++) whole += source.write(count);
    source.log?.end();
    const events = whole.split(/(?<=\n\n)/);
    t.equal(events.length, 36);
    const ended = await eventually(async () => {
      const found = await find(id);
      return found.ended && found;
    }, 'its end is known');
    t.strictSame([ended.first, ended.opening, await ended.closing()], [0, events[0], events.at(-1)]);
    t.strictSame([ended.isDone(34), ended.isDone(35)], [false, true]);
    for (let after = -1; after < events.length; after++) {
      const reading = new Reading(await find(id), after);
      await eventually(() => reading.done, `the rest after ${after}`);
      t.equal(reading.text, events.slice(after + 1).join(''), `after ${after}`);
    }
  });

  t.test('readers follow a stream as it grows, each from its own place', async (t) => {
    const { id, source } = await begin();
    const first = source.write(3);
    const whole = new Reading(await find(id), -1);
    await eventually(() => whole.text === first, 'what was there');
    const rest = new Reading(await find(id), 1);
    const future = new Reading(await find(id), 4);
    const second = source.write(1) + source.write(4);
    await eventually(() => whole.text === first + second, 'what came later');
    source.log?.end();
    await eventually(() => whole.done && rest.done && future.done, 'the end');
    const events = (first + second).split(/(?<=\n\n)/);
    t.equal(rest.text, events.slice(2).join(''));
    t.equal(future.text, events.slice(5).join(''), 'one that comes before its events waits for them');
  });

  t.test('an unknown, foreign or removed stream is not found', async (t) => {
    const { id, source } = await begin();
    source.write(2);
    t.equal(await reader.find(`${id}x`, 'sub_1'), undefined);
    t.equal(await reader.find(id, 'sub_2'), undefined);
    await (await find(id)).remove();
    t.equal(await reader.find(id, 'sub_1'), undefined);
  });

  t.test('one that was not announced is not found', async (t) => {
    const source = new Source();
    const id = `s${process.pid}x${++streams}`;
    source.log = writer.open({ id, subscription: 'sub_1', graceMs: 20_000, source });
    t.equal(await reader.find(id, 'sub_1'), undefined);
    source.log.discard();
  });

  t.test('cancelling ends the source, and readers get its last events', async (t) => {
    const { id, source } = await begin();
    const begun = source.write(2);
    const reading = new Reading(await find(id), -1);
    await eventually(() => reading.text === begun, 'what was there');
    await (await find(id)).cancel();
    t.equal(source.cancelled, 1);
    await eventually(() => reading.done, 'the end');
    t.equal(reading.text, begun + eventText(2));
    await (await find(id)).cancel();
    t.equal(source.cancelled, 1, 'only once');
  });

  t.test('a stream without readers is cancelled after its grace period, and gone', async (t) => {
    const { id, source } = await begin({ graceMs: 1_000 });
    source.write(2);
    const reading = new Reading(await find(id), -1);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    t.equal(source.cancelled, 0, 'as long as somebody reads it goes on');
    reading.unsubscribe();
    await eventually(() => source.cancelled === 1, 'cancelled');
    await eventually(async () => (await reader.find(id, 'sub_1')) === undefined, 'gone');
  });

  t.test('one that has ended can be read until it expires', async (t) => {
    const { id, source } = await begin({ graceMs: 1_000 });
    source.write(2);
    source.log?.end();
    const reading = new Reading(await find(id), 0);
    await eventually(() => reading.done, 'read after its end');
    await eventually(async () => (await reader.find(id, 'sub_1')) === undefined, 'expired');
    t.equal(source.cancelled, 0);
  });

  t.test('a full log pauses its source until somebody reads', async (t) => {
    const { id, source } = await begin();
    let written = '';
    while (!source.paused && written.length < 4 * streamBytes) written += source.write(1, 1000);
    t.ok(
      written.length > streamBytes / 2 && written.length < streamBytes,
      'half of it is for what is not read',
    );
    const reading = new Reading(await find(id), -1);
    await eventually(() => reading.text === written, 'all of it');
    await eventually(() => !source.paused, 'resumed');
    reading.backpressure.pause();
    let more = '';
    while (!source.paused && more.length < 4 * streamBytes) more += source.write(1, 1000);
    t.ok(
      more.length > streamBytes / 4 && more.length < streamBytes,
      'a reader that stops reading has the same effect',
    );
    reading.backpressure.resume();
    await eventually(() => reading.text === written + more, 'nothing is missing');
    source.log?.end();
    await eventually(() => reading.done, 'the end');
  });

  t.test('what was read long ago is cut: 410 says from where it can be had', async (t) => {
    const { id, source } = await begin();
    const reading = new Reading(await find(id), -1);
    let whole = '';
    for (let round = 0; round < 40; round++) {
      whole += source.write(1 + (round % 3), streamBytes / 16);
      await eventually(() => reading.text.length === whole.length && !source.paused, 'read');
    }
    const events = whole.split(/(?<=\n\n)/);
    source.log?.end();
    await eventually(() => reading.done, 'read to its end');
    const stream = await eventually(async () => {
      const found = await find(id);
      return found.first > 0 && found.ended && found;
    }, 'cut');
    const tooLate = new Reading(stream, -1);
    await eventually(() => tooLate.error, 'refused');
    const { error } = tooLate;
    assert(error instanceof ApiError);
    t.equal(error.status, 410);
    const first = Number(error.headers['x-stream-first']);
    t.ok(first > 0 && first <= events.length);
    t.match(error.message, `after=${first - 1}`);
    const rest = new Reading(await find(id), first - 1);
    await eventually(() => rest.done, 'the rest');
    t.equal(rest.text, events.slice(first).join(''));
    t.equal(reading.text, whole);
  });

  t.test('stats', async (t) => {
    const before = writer.stats();
    const { id, source } = await begin();
    t.equal(writer.stats().detached, before.detached + 1);
    source.write(1);
    source.log?.end();
    t.equal(writer.stats().ended, before.ended + 1);
    await (await find(id)).remove();
    await eventually(() => writer.stats().ended === before.ended, 'removed');
  });
};
