/** Tests the thread pool: tasks that hang, crash, exhaust memory, are aborted or exceed the queue. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { ApiError } from '../../src/errors.ts';
import { Pool, type PoolJob, type PoolOptions } from '../../src/offload/pool.ts';
import { ThreadFailure } from '../../src/offload/thread.ts';
import { eventually, patiently } from '../eventually.ts';

/** Commands of `odd-worker.mjs`. */
type OddTask =
  | { readonly do: 'name' | 'hang' | 'exit' | 'throw' | 'fill heap' | 'fill buffers' }
  | { readonly do: 'wait'; readonly gate: Int32Array };

const options: PoolOptions = {
  entry: new URL('./odd-worker.mjs', import.meta.url),
  threads: 2,
  maxQueued: 2,
  maxQueuedBytes: 1000,
  maxWait: patiently(20_000),
  idle: 20_000,
  heapMegabytes: 64,
};

const job = (task: OddTask, more: Partial<PoolJob> = {}): PoolJob => ({
  task,
  transfer: [],
  timeout: patiently(20_000),
  maxGrowth: Number.POSITIVE_INFINITY,
  bytes: 1,
  slow: false,
  ...more,
});

const name = job({ do: 'name' });

/** Tasks that wait at a gate until it opens. */
class Gate {
  readonly #cells = new Int32Array(new SharedArrayBuffer(8));

  task(more: Partial<PoolJob> = {}): PoolJob {
    return job({ do: 'wait', gate: this.#cells }, more);
  }

  /** Resolves when so many tasks have begun to wait. */
  async reached(count: number): Promise<void> {
    await eventually(() => Atomics.load(this.#cells, 1) >= count, `${count} at the gate`);
  }

  open(): void {
    Atomics.store(this.#cells, 0, 1);
    Atomics.notify(this.#cells, 0);
  }
}

const poolFor = (test: Test, more: Partial<PoolOptions> = {}): Pool => {
  const pool = new Pool({ ...options, ...more });
  test.teardown(() => pool.close());
  return pool;
};

const unavailable = { name: 'ApiError', kind: 'unavailable' };
const reasonOf = async (running: Promise<unknown>): Promise<string> => {
  const failure = await running.then(
    () => 'none',
    (reason: unknown) => reason,
  );
  if (failure instanceof ThreadFailure) return failure.reason;
  return failure instanceof ApiError ? failure.kind : String(failure);
};

t.test('threads are reused, and never more than allowed', async (t) => {
  const pool = poolFor(t);
  const first = await pool.run(name);
  t.equal(await pool.run(name), first);
  const gate = new Gate();
  const running = [
    pool.run(gate.task()),
    pool.run(gate.task()),
    pool.run(gate.task()),
    pool.run(gate.task()),
  ];
  await gate.reached(2);
  gate.open();
  t.equal(new Set(await Promise.all(running)).size, 2);
});

t.test('a full queue refuses: by number, by bytes, by time', async (t) => {
  const gate = new Gate();
  const pool = poolFor(t, { threads: 1 });
  const running = pool.run(gate.task());
  await gate.reached(1);
  await t.rejects(pool.run(job({ do: 'name' }, { bytes: 1001 })), unavailable);
  const waiting = [pool.run(name), pool.run(name)];
  await t.rejects(pool.run(name), unavailable);
  gate.open();
  const thread = await running;
  t.same(await Promise.all(waiting), [thread, thread]);

  const closedGate = new Gate();
  const impatient = poolFor(t, { threads: 1, maxWait: 1 });
  const first = impatient.run(closedGate.task());
  await closedGate.reached(1);
  await t.rejects(impatient.run(name), unavailable);
  closedGate.open();
  t.type(await first, 'number');
});

t.test('a dying thread fails only its task; the next task gets a new thread', async (t) => {
  const gate = new Gate();
  const pool = poolFor(t);
  const healthy = pool.run(gate.task());
  await gate.reached(1);
  const seen = new Set<unknown>();
  const cases: [PoolJob, string][] = [
    [job({ do: 'hang' }, { timeout: 100 }), 'timeout'],
    [job({ do: 'exit' }), 'crash'],
    [job({ do: 'throw' }), 'crash'],
    [job({ do: 'fill heap' }), 'memory'],
  ];
  // Where the system does not report it (QEMU's user mode says 0), it cannot be stopped.
  if (process.memoryUsage.rss() > 0)
    cases.push([job({ do: 'fill buffers' }, { maxGrowth: 200 * 1024 * 1024 }), 'memory']);
  for (const [task, reason] of cases) {
    t.equal(await reasonOf(pool.run(task)), reason);
    seen.add(await pool.run(name));
  }
  t.equal(seen.size, cases.length);
  gate.open();
  t.type(await healthy, 'number');
});

t.test('aborting', async (t) => {
  const gate = new Gate();
  const pool = poolFor(t, { threads: 1 });
  const controller = new AbortController();
  const running = pool.run(gate.task(), controller.signal);
  await gate.reached(1);
  const waiting = pool.run(name, controller.signal);
  const other = pool.run(name);
  controller.abort(new Error('gone'));
  await t.rejects(running, { message: 'gone' });
  await t.rejects(waiting, { message: 'gone' });
  await t.rejects(pool.run(name, controller.signal), { message: 'gone' });
  gate.open();
  t.type(await other, 'number', 'the thread is free again once the unheard task ends');
});

t.test('slow tasks leave a thread for others', async (t) => {
  const gate = new Gate();
  const pool = poolFor(t);
  const slow = [pool.run(gate.task({ slow: true })), pool.run(gate.task({ slow: true }))];
  await gate.reached(1);
  const quick = await pool.run(name);
  gate.open();
  const [first, second] = await Promise.all(slow);
  t.not(quick, first);
  t.type(second, 'number');
});

t.test('an idle thread ends', async (t) => {
  const pool = poolFor(t, { idle: 1, threads: 1 });
  const first = await pool.run(name);
  await eventually(async () => (await pool.run(name)) !== first, 'a new thread');
});

t.test('closing', async (t) => {
  const gate = new Gate();
  const pool = poolFor(t, { threads: 1 });
  const running = reasonOf(pool.run(gate.task()));
  await gate.reached(1);
  const waiting = reasonOf(pool.run(name));
  await pool.close();
  t.same(
    [await running, await waiting, await reasonOf(pool.run(name))],
    ['closed', 'unavailable', 'unavailable'],
  );
});

t.test('an open pool does not keep the process alive', async (t) => {
  const offload = new URL('../../src/offload/offload.ts', import.meta.url).href;
  const script = `const { createOffload } = await import(${JSON.stringify(offload)});
    createOffload();
    console.log(JSON.stringify(await createOffload().parseJson(Buffer.from('{"a":[1]}'))));`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import=tsx', '--input-type=module', '--eval', script],
    { timeout: patiently(20_000) },
  );
  t.equal(stdout, '{"a":[1]}\n');
});

t.test('no thread runs before the first task', async (t) => {
  const ports = () => process.getActiveResourcesInfo().filter((kind) => kind === 'MessagePort').length;
  const before = ports();
  const pool = poolFor(t);
  t.equal(ports(), before);
  const gate = new Gate();
  const running = pool.run(gate.task());
  t.ok(ports() > before);
  gate.open();
  await running;
});
