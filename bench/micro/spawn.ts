/**
 * Measures how long a conversion blocks the event loop, spawned directly and by the codec, at several heap sizes.
 * Linux with ffmpeg only: `npx tsx bench/micro/spawn.ts [megabytes …]`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readSync } from 'node:fs';
import { setPriority } from 'node:os';
import { lastValueFrom, toArray } from 'rxjs';
import { createCodec } from '../../src/codec/codec.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';

const rounds = 30;
const sizes = process.argv.slice(2).map(Number);
const held: Buffer[] = [];
const samples = new Uint8Array(48_000);
const raw = ['-f', 's16le', '-ar', '24000', '-ac', '1'];
const encoding = ['-c:a', 'libmp3lame', '-f', 'mp3'];
const codec = createCodec();

const byItself = async (): Promise<void> => {
  const words = ['-loglevel', 'error', ...raw, '-i', 'pipe:0', ...encoding, 'pipe:1'];
  const child = spawn('ffmpeg', words, { stdio: ['pipe', 'pipe', 'ignore'] });
  if (child.pid !== undefined) setPriority(child.pid, 10);
  child.stdin.end(samples);
  child.stdout.resume();
  await once(child, 'close');
};

const byTheCodec = async (): Promise<void> => {
  const conversion = { inputArguments: raw, arguments: encoding, maxBytes: 1e6, timeoutMs: 60_000 };
  await lastValueFrom(codec.convert(samples, conversion, new Backpressure()).pipe(toArray()));
};

const idle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 30));

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Milliseconds for which this thread was runnable but not scheduled. */
const schedule = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
const digits = Buffer.alloc(64);
const waited = (): number =>
  Number(digits.toString('latin1', 0, readSync(schedule, digits, 0, 64, 0)).split(' ')[1]) / 1e6;

/** The longest event loop stall, minus time not scheduled, and the total duration. */
const observe = async (work: () => Promise<void>): Promise<{ stall: number; took: number }> => {
  await idle();
  const begun = performance.now();
  let last = begun - waited();
  let stall = 0;
  let running = true;
  const working = work().finally(() => {
    running = false;
  });
  while (running) {
    await turn();
    const now = performance.now() - waited();
    stall = Math.max(stall, now - last);
    last = now;
  }
  await working;
  return { stall, took: performance.now() - begun };
};

const quantile = (numbers: readonly number[], share: number): string =>
  (numbers.toSorted((one, other) => one - other)[Math.floor(share * (numbers.length - 1))] ?? 0)
    .toFixed(1)
    .padStart(7);

console.log('milliseconds, p50 and p90                         stall             total');
for (const size of sizes.length > 0 ? sizes : [0, 200, 600]) {
  while (held.length < size) held.push(Buffer.alloc(1e6, 1));
  for (const [name, work] of Object.entries({ idle, byItself, byTheCodec })) {
    await work();
    const seen = [];
    for (let round = 0; round < rounds; round++) seen.push(await observe(work));
    const stalls = seen.map(({ stall }) => stall);
    const times = seen.map(({ took }) => took);
    const columns = [
      quantile(stalls, 0.5),
      quantile(stalls, 0.9),
      ' ',
      quantile(times, 0.5),
      quantile(times, 0.9),
    ];
    console.log(`${String(size).padStart(4)} MB held, ${name.padEnd(24)} ${columns.join(' ')}`);
  }
}
await codec.close();
