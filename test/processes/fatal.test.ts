/** Tests that a process drains and exits with an error code after an uncaught error. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import OpenAI from 'openai';
import t, { type Test } from 'tap';
import { eventually, patiently } from '../eventually.ts';
import { onlyLong, someOf } from '../long.ts';
import { redisMissing, startRedis } from '../services/redis.ts';
import { childrenOf, environmentOf, key } from './supervised.ts';

const program = fileURLToPath(new URL('./faulty-sluice.mjs', import.meta.url));

interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly origin?: string;
  readonly err?: { readonly message: string };
}

interface Running {
  readonly child: ChildProcess;
  readonly exited: Promise<readonly unknown[]>;
  readonly output: () => string;
  readonly log: () => readonly LogLine[];
}

const start = (t: Test, args: readonly string[], env: Readonly<Record<string, string>> = {}): Running => {
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...environmentOf(t),
      LOG_LEVEL: 'warn',
      ...env,
    },
  });
  const exited = once(child, 'exit');
  t.teardown(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await exited;
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (piece) => {
      texts[name] += piece;
    });
  return {
    child,
    exited,
    output: () => texts.stdout + texts.stderr,
    log: () =>
      texts.stderr
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as LogLine),
  };
};

const addresses = ({ output }: Running): Promise<{ url: string; admin: string }> =>
  eventually(() => {
    const url = /base URL {3}(\S+)/.exec(output())?.[1];
    const admin = /metrics {4}(\S+)\/metrics/.exec(output())?.[1];
    return url !== undefined && admin !== undefined && { url, admin };
  }, 'the gateway to listen');

/** A stream whose first token has arrived; `rest` resolves with how it ends. */
const stream = async (url: string, script: string): Promise<{ rest: Promise<string> }> => {
  const client = new OpenAI({ baseURL: url, apiKey: key, maxRetries: 0 });
  const chunks = (
    await client.chat.completions.create({
      model: 'sluice/chat',
      messages: [{ role: 'user', content: `/sim ${script}\nGo on.` }],
      stream: true,
    })
  )[Symbol.asyncIterator]();
  await chunks.next();
  const rest = async (): Promise<string> => {
    let reason = 'none';
    try {
      for (let next = await chunks.next(); next.done !== true; next = await chunks.next())
        reason = next.value.choices[0]?.finish_reason ?? reason;
      return reason;
    } catch (error) {
      return error instanceof OpenAI.APIError ? `error: ${error.message}` : 'cut';
    }
  };
  return { rest: rest() };
};

const fatal = 60;

for (const origin of someOf(['uncaughtException', 'unhandledRejection'], 1))
  t.test(`${origin}: a running stream ends as usual, then the gateway exits with 1`, async (t) => {
    const running = start(t, ['serve'], { TEST_FAULT: origin });
    const { url } = await addresses(running);
    const { rest } = await stream(url, 'tokens=120 rate=40/s');
    running.child.kill('SIGUSR2');
    await eventually(() => running.log().length > 0, 'the fatal line');
    await eventually(
      () =>
        fetch(`${url}/health`, { headers: { connection: 'close' } }).then(
          () => false,
          () => true,
        ),
      'the port to be closed',
    );
    t.equal(running.child.exitCode, null, 'the stream still runs');
    t.equal(await rest, 'stop');
    t.strictSame(await running.exited, [1, null]);
    t.match(running.log(), [
      { level: fatal, msg: 'uncaught error, stopping', origin, err: { message: 'injected' } },
    ]);
    t.equal(running.log().length, 1);
  });

t.test('the drain time bounds it: a stream that takes longer ends with an error', async (t) => {
  const running = start(t, ['serve'], { SLUICE_DRAIN_SECONDS: '1' });
  const { url } = await addresses(running);
  const { rest } = await stream(url, 'tokens=5000 rate=20/s');
  running.child.kill('SIGUSR2');
  t.match(await rest, /^error: .*shutting down/);
  t.strictSame(await running.exited, [1, null]);
});

t.test('a second uncaught error does not wait for the drain', { skip: onlyLong }, async (t) => {
  const running = start(t, ['serve']);
  const { url } = await addresses(running);
  const { rest } = await stream(url, 'tokens=5000 rate=20/s');
  running.child.kill('SIGUSR2');
  await eventually(() => running.log().length > 0, 'the fatal line');
  const begun = performance.now();
  running.child.kill('SIGUSR2');
  t.strictSame(await running.exited, [1, null]);
  t.ok(performance.now() - begun < patiently(5_000), 'the drain would take 30 s');
  t.equal(await rest, 'cut');
  t.match(running.log(), [{ level: fatal }, { level: 50, msg: 'another uncaught error while stopping' }]);
});

t.test('a part that never closes does not keep a stopping gateway alive', { skip: onlyLong }, async (t) => {
  const running = start(t, ['serve'], { TEST_FAULT: 'never closed', SLUICE_DRAIN_SECONDS: '0' });
  await addresses(running);
  running.child.kill('SIGTERM');
  t.strictSame(await running.exited, [1, null]);
  t.match(running.log(), [
    { level: 50, msg: 'stopping failed', err: { message: 'not stopped after 5000 ms' } },
  ]);
});

t.test('a part that cannot be closed does not keep the others open', { skip: onlyLong }, async (t) => {
  const running = start(t, ['serve'], { TEST_FAULT: 'not closed' });
  await addresses(running);
  running.child.kill('SIGTERM');
  t.strictSame(await running.exited, [1, null]);
  t.match(running.log(), [{ level: 50, msg: 'stopping failed', err: { message: 'injected' } }]);
});

t.test(
  'a gateway whose data folder was removed stops, and says what is lost',
  { skip: onlyLong },
  async (t) => {
    const folder = t.testdir();
    const running = start(t, ['serve'], { SLUICE_DATA: folder });
    const { url } = await addresses(running);
    const { rest } = await stream(url, 'tokens=20 rate=40/s');
    await rm(folder, { recursive: true });
    t.equal(await rest, 'stop');
    const begun = performance.now();
    running.child.kill('SIGTERM');
    t.strictSame(await running.exited, [0, null]);
    t.ok(performance.now() - begun < patiently(15_000), 'the drain would take 30 s');
    const lost = running.log().filter(({ level }) => level === 50);
    t.match(lost, [{ msg: 'journal removed: events that were not shipped are lost' }]);
  },
);

/** Tried twice: what waited to be accepted by a process that ends is reset, and clients connect again. */
const statusOf = async (url: string): Promise<number> => {
  const once = async (): Promise<number> => {
    const response = await fetch(url, { headers: { connection: 'close' } });
    await response.text();
    return response.status;
  };
  return once().catch(once);
};

t.test(
  'under a supervisor the process is replaced, and the others keep serving',
  { skip: onlyLong },
  async (t) => {
    const running = start(t, ['serve', '--processes', '2']);
    const { url, admin } = await addresses(running);
    const processes = () => childrenOf(running.child);
    const [faulty = 0, other = 0] = await processes();
    const streams = await Promise.all(Array.from({ length: 6 }, () => stream(url, 'tokens=60 rate=40/s')));
    process.kill(faulty, 'SIGUSR2');
    await eventually(() => running.log().some(({ level }) => level === fatal), 'the fatal line');
    const statuses: number[] = [];
    await eventually(async () => {
      statuses.push(await statusOf(`${url}/models`));
      const now = await processes();
      return now.length === 2 && !now.includes(faulty) && now.includes(other);
    }, 'a new process');
    t.strictSame(
      statuses.filter((status) => status !== 200),
      [],
      `${statuses.length} requests meanwhile`,
    );
    t.strictSame(new Set(await Promise.all(streams.map(({ rest }) => rest))), new Set(['stop']));
    const replaced = (): boolean => running.log().some(({ msg }) => msg === 'gateway process replaced');
    await eventually(replaced, 'the new process to listen');
    t.match(
      running.log(),
      [
        { level: fatal, origin: 'uncaughtException' },
        { level: 50, msg: 'gateway process died', pid: faulty, how: 'code 1' },
        { level: 40, msg: 'gateway process replaced', from: faulty },
      ],
      'each is logged once',
    );
    t.match(await (await fetch(`${admin}/metrics`)).text(), /^sluice_process_deaths_total 1$/m);
    running.child.kill('SIGTERM');
    t.strictSame(await running.exited, [0, null]);
  },
);

t.test('billing exits with 1', { skip: onlyLong }, async (t) => {
  // Kafka is waited for, so an address without a broker will do.
  const running = start(t, ['billing'], { KAFKA_BROKERS: '127.0.0.1:1', LOG_LEVEL: 'fatal' });
  await eventually(() => running.output().includes('Reading usage'), 'billing to run');
  running.child.kill('SIGUSR2');
  t.strictSame(await running.exited, [1, null]);
  t.match(running.log(), [{ level: fatal, err: { message: 'injected' } }]);
  t.equal(running.log().length, 1);
});

t.test('a worker exits with 1', { skip: redisMissing() ?? false }, async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  const running = start(t, ['worker'], { REDIS_URL: redis.url, LOG_LEVEL: 'fatal' });
  await eventually(() => running.output().includes('Rendering up to'), 'the worker to run');
  running.child.kill('SIGUSR2');
  t.strictSame(await running.exited, [1, null]);
  t.match(running.log(), [{ level: fatal, err: { message: 'injected' } }]);
});
