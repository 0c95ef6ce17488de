/** Tests that the supervisor kills and replaces processes that hang, and no others. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { eventually } from '../eventually.ts';
import { onlyLong } from '../long.ts';
import { childrenOf, environmentOf } from './supervised.ts';

const program = fileURLToPath(new URL('./faulty-sluice.mjs', import.meta.url));
const watchdogSeconds = 4;
/** A start on a busy machine, behind the silence and the backoff. */
const seconds = 90;

interface LogLine {
  readonly level: number;
  readonly msg: string;
}

const start = async (t: Test) => {
  const child = spawn(process.execPath, [program, 'serve', '--processes', '2'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...environmentOf(t),
      SLUICE_WATCHDOG_SECONDS: String(watchdogSeconds),
      LOG_LEVEL: 'warn',
      TEST_FAULT: 'endless loop',
    },
  });
  const exited = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    await exited;
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (piece) => {
      texts[name] += piece;
    });
  const admin = await eventually(
    () => /metrics {4}(\S+)\/metrics/.exec(texts.stdout)?.[1] ?? false,
    'a start',
    seconds,
  );
  const log = (): readonly LogLine[] =>
    texts.stderr
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as LogLine);
  const metrics = async (): Promise<string> => (await fetch(`${admin}/metrics`)).text();
  return { child, log, metrics };
};

// One supervisor for all: what follows goes by the numbers so far.
t.test('a supervisor with a watchdog', { skip: onlyLong }, async (t) => {
  const { child, log, metrics } = await start(t);
  const counts = async () => {
    const text = await metrics();
    return ['hangs', 'deaths'].map((name) =>
      Number(new RegExp(`^sluice_process_${name}_total (\\d+)$`, 'm').exec(text)?.[1]),
    );
  };

  await t.test('a pause that ends in time, or one of the supervisor itself, harms nobody', async (t) => {
    const before = await childrenOf(child);
    process.kill(before[0] ?? 0, 'SIGSTOP');
    await delay((watchdogSeconds * 1000) / 2);
    process.kill(before[0] ?? 0, 'SIGCONT');
    await delay(watchdogSeconds * 1000);
    child.kill('SIGSTOP');
    await delay(watchdogSeconds * 1500);
    child.kill('SIGCONT');
    await delay(watchdogSeconds * 1000);
    t.strictSame(await childrenOf(child), before);
    t.strictSame(log(), []);
    t.strictSame(await counts(), [0, 0]);
  });

  for (const [index, [name, signal]] of (
    [
      ['stopped', 'SIGSTOP'],
      ['in an endless loop', 'SIGUSR2'],
    ] as const
  ).entries())
    await t.test(`a process that is ${name} is killed and replaced`, async (t) => {
      const earlier = log().length;
      const [hung = 0, other = 0] = await childrenOf(child);
      process.kill(hung, signal);
      const since = () => log().slice(earlier);
      await eventually(
        async () => since().some(({ msg }) => msg === 'gateway process replaced'),
        'a replacement',
        seconds,
      );
      t.match(since(), [
        { level: 50, msg: 'gateway process hung, killed', pid: hung, silentSeconds: watchdogSeconds },
        { level: 50, msg: 'gateway process died', pid: hung, how: 'SIGKILL' },
        { level: 40, msg: 'gateway process replaced', from: hung },
      ]);
      const now = await childrenOf(child);
      t.equal(now.length, 2);
      t.ok(now.includes(other) && !now.includes(hung));
      t.strictSame(await counts(), [index + 1, index + 1]);
    });
});
