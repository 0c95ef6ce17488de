/** Tests the thread pool: tasks that hang, crash, exhaust memory, are aborted or exceed the queue. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { ApiError } from '../../src/errors.ts';
import { Pool, type PoolJob, type PoolOptions } from '../../src/offload/pool.ts';
import { WorkerFailure } from '../../src/offload/pool-worker.ts';
import { WorkerProcess } from '../../src/offload/worker-process.ts';
import { eventually, patiently } from '../eventually.ts';

/** Commands of `odd-worker.mjs`. */
type OddTask =
  | { readonly do: 'name' | 'hash' | 'hang' | 'exit' | 'throw' | 'fill heap' | 'fill buffers' }
  | { readonly do: 'wait'; readonly gate: Int32Array };

const options: PoolOptions = {
  entry: new URL('./odd-worker.mjs', import.meta.url),
  workers: 3,
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
  bytes: 1,
  subscription: 'a',
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
  if (failure instanceof WorkerFailure) return failure.reason;
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
  const pool = poolFor(t, { workers: 1 });
  const running = pool.run(gate.task());
  await gate.reached(1);
  await t.rejects(pool.run(job({ do: 'name' }, { bytes: 1001 })), unavailable);
  const waiting = [pool.run(name), pool.run(name)];
  await t.rejects(pool.run(name), unavailable);
  gate.open();
  const thread = await running;
  t.same(await Promise.all(waiting), [thread, thread]);

  const closedGate = new Gate();
  const impatient = poolFor(t, { workers: 1, maxWait: 1 });
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
  const pool = poolFor(t, { workers: 1 });
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

t.test('one subscription leaves a worker for the others, which take turns', async (t) => {
  const gate = new Gate();
  const pool = poolFor(t, { maxQueued: 8 });
  const greedy = [1, 2, 3, 4].map(() => pool.run(gate.task({ subscription: 'greedy' })));
  await gate.reached(2);
  t.same(pool.stats(), { running: 2, waiting: 2, refused: 0 });
  t.type(await pool.run(job({ do: 'name' }, { subscription: 'other' })), 'number', 'there is a worker left');
  const others = new Gate();
  const held = pool.run(others.task({ subscription: 'other' }));
  await others.reached(1);
  const order: string[] = [];
  const last = ['greedy', 'greedy', 'third'].map((subscription) =>
    pool.run(job({ do: 'name' }, { subscription })).then(() => void order.push(subscription)),
  );
  others.open();
  await Promise.all([held, last[2]]);
  t.same(order, ['third'], 'it does not wait behind a queue that was there first');
  gate.open();
  await Promise.all([...greedy, ...last]);
});

t.test('a full queue drops what the greediest sent last, and holds its share of bytes only', async (t) => {
  const gate = new Gate();
  const pool = poolFor(t, { workers: 1 });
  const running = pool.run(gate.task({ subscription: 'greedy' }));
  await gate.reached(1);
  const greedy = [1, 2].map(() => pool.run(job({ do: 'name' }, { subscription: 'greedy' })));
  const dropped = reasonOf(greedy[1] ?? Promise.resolve());
  const other = pool.run(job({ do: 'name' }, { subscription: 'other' }));
  t.equal(await dropped, 'unavailable');
  await t.rejects(pool.run(job({ do: 'name' }, { subscription: 'large', bytes: 751 })), unavailable);
  gate.open();
  t.type((await Promise.all([running, greedy[0], other])).length, 'number');
  t.match(pool.stats(), { running: 0, waiting: 0, refused: 2 });
});

t.test('a worker process: its own memory is counted, and what it takes ends with it', async (t) => {
  const pool = poolFor(t, { workers: 1, start: (worker) => new WorkerProcess(worker) });
  const first = await pool.run(name);
  t.type(first, 'number');
  const cases: [PoolJob, string][] = [
    [job({ do: 'hang' }, { timeout: 100 }), 'timeout'],
    [job({ do: 'hang' }, { process: { cpuMs: 200, growth: 2 ** 40 } }), 'timeout'],
    [job({ do: 'exit' }), 'crash'],
    [job({ do: 'throw' }), 'crash'],
    [job({ do: 'fill heap' }), 'memory'],
  ];
  const limits = { cpuMs: 60_000, growth: 200 * 1024 * 1024 };
  // Where the system does not report it (QEMU's user mode says 0), it cannot be stopped.
  if (process.memoryUsage.rss() > 0) cases.push([job({ do: 'fill buffers' }, { process: limits }), 'memory']);
  const before = process.memoryUsage.rss();
  for (const [task, reason] of cases) {
    t.equal(await reasonOf(pool.run(task)), reason);
    t.type(await pool.run(name), 'number', 'the next has another process');
  }
  t.ok(process.memoryUsage.rss() - before < 64 * 1024 * 1024, 'nothing of it was taken here');
});

t.test('a worker process gets the payload of each task, whatever its size', async (t) => {
  const pool = poolFor(t, { workers: 1, start: (worker) => new WorkerProcess(worker) });
  for (const length of [20_000_000, 0, 1, 65_536, 3_000_001]) {
    const payload = Buffer.alloc(length, 'every byte counts');
    const hash = createHash('sha256').update(payload).digest('hex');
    t.equal(await pool.run(job({ do: 'hash' }, { payload })), hash);
  }
  const payload = Buffer.alloc(20_000_000);
  t.equal(await reasonOf(pool.run(job({ do: 'exit' }, { payload }))), 'crash');
  const stopping = new AbortController();
  const stopped = t.rejects(pool.run(job({ do: 'hash' }, { payload }), stopping.signal));
  stopping.abort();
  await stopped;
  t.type(await pool.run(name), 'number', 'the next has another process');
});

t.test('an idle thread ends', async (t) => {
  const pool = poolFor(t, { idle: 1, workers: 1 });
  const first = await pool.run(name);
  await eventually(async () => (await pool.run(name)) !== first, 'a new thread');
});

t.test('closing', async (t) => {
  const gate = new Gate();
  const pool = poolFor(t, { workers: 1 });
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
