/** Tests that a conversion that is killed, at any moment, settles and leaves no process behind. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { concat, lastValueFrom, NEVER, type Observable, of } from 'rxjs';
import t from 'tap';
import { createCodec } from '../../src/codec/codec.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import { ffmpegs, spawners, wave } from '../audio/sounds.ts';
import { eventually } from '../eventually.ts';
import { orLong } from '../long.ts';
import './own-folder.ts';

const raw = ['-f', 's16le', '-ar', '24000', '-ac', '1'];
const bounds = { maxBytes: 64 * 1024 * 1024, timeoutMs: 600_000 };
const samples = { ...bounds, inputArguments: raw, arguments: ['-f', 's16le'] };
const sine = ['-f', 'lavfi', '-i', 'sine=frequency=440'];
const large = Buffer.alloc(4 * 1024 * 1024, 1);
const sound = wave(large);
const paused = (): Backpressure => {
  const backpressure = new Backpressure();
  backpressure.pause();
  return backpressure;
};

type TestCodec = ReturnType<typeof createCodec>;

/** Work that does not end by itself, or not soon. */
const kinds: readonly ((codec: TestCodec) => Observable<unknown>)[] = [
  (codec) => codec.convert(NEVER, samples, new Backpressure()),
  (codec) => codec.convert(concat(of(large), NEVER), samples, paused()),
  (codec) => codec.convert(large, samples, paused()),
  (codec) => codec.convert(sound, { ...bounds, arguments: ['-f', 'flac'] }, new Backpressure()),
  (codec) => codec.convert(undefined, { ...samples, inputArguments: sine }, new Backpressure()),
  (codec) =>
    codec.convert(
      undefined,
      { ...bounds, inputArguments: ['-re', ...sine], arguments: ['-f', 'wav'], seekableOutput: true },
      new Backpressure(),
    ),
];

const running = (codec: TestCodec): number =>
  Object.values(codec.stats()).reduce((sum, one) => sum + one.running + one.waiting, 0);

/** Processes whose temporary folder is in ours: also those whose parent has exited. */
const leftovers = (): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((id) => {
      try {
        const environment = readFileSync(`/proc/${id}/environ`, 'latin1');
        return environment.includes(`TMPDIR=${tmpdir()}/sluice-codec-`)
          ? [`${id} ${readFileSync(`/proc/${id}/comm`, 'latin1').trim()}`]
          : [];
      } catch {
        // It ended while we looked, or is somebody else's.
        return [];
      }
    });

const noneLeft = () => eventually(() => leftovers().length === 0, 'no process is left');

const linux = process.platform === 'linux' ? {} : { skip: 'looks at /proc' };

t.test('killed by those who wanted them, at any moment', linux, async (t) => {
  const codec = createCodec({ maxRuns: 8, maxStreams: 8, maxWaiting: 64 });
  await lastValueFrom(codec.convert(Buffer.alloc(100), samples, new Backpressure()));
  let killed = 0;
  const begun = performance.now();
  // So many on an idle machine, fewer on one that is busy.
  while (killed < orLong(60, 240) && performance.now() - begun < 4000) {
    await Promise.all(
      kinds.map(async (kind) => {
        const conversion = kind(codec).subscribe({ error: () => undefined });
        await delay(Math.random() * 30);
        conversion.unsubscribe();
        killed++;
      }),
    );
  }
  t.comment(`${killed} conversions`);
  await eventually(() => running(codec) === 0, 'all of them have settled');
  await noneLeft();
  t.same(
    readdirSync(tmpdir(), { encoding: 'utf8', recursive: true }).filter((name) => name.includes('/run-')),
    [],
    'nor is a folder',
  );
  t.ok(await lastValueFrom(codec.convert(Buffer.alloc(100), samples, new Backpressure())), 'others can run');
  await codec.close();
});

t.test('unwanted after it has exited, with output that nobody reads', async (t) => {
  const codec = createCodec();
  const conversion = codec.convert(Buffer.alloc(100), samples, paused()).subscribe();
  await eventually(() => running(codec) === 1, 'it runs');
  if (process.platform === 'linux') {
    await eventually(() => leftovers().length > 0, 'as a process');
    await noneLeft();
  }
  t.equal(running(codec), 1, 'its output waits for a reader');
  conversion.unsubscribe();
  await eventually(() => running(codec) === 0, 'it has settled');

  const closing = lastValueFrom(codec.convert(Buffer.alloc(100), samples, paused()));
  await Promise.all([t.rejects(closing, { message: 'The service is shutting down' }), codec.close()]);
});

t.test('a conversion that takes long gives way to short ones', linux, async (t) => {
  const codec = createCodec();
  const long = codec.convert(NEVER, samples, new Backpressure()).subscribe({ error: () => undefined });
  const [program = 0] = await eventually(() => ffmpegs().length > 0 && ffmpegs(), 'it runs');
  // By the time that it is found here, it may have given way already; it begins as what starts it.
  t.strictSame(
    spawners().map((spawner) => getPriority(spawner)),
    [5],
  );
  await eventually(() => getPriority(program) === 12, 'it has a lower priority');
  const session = `/proc/${program}/autogroup`;
  if (existsSync(session))
    await eventually(() => readFileSync(session, 'latin1').endsWith(' nice 12\n'), 'its session, too');
  long.unsubscribe();
  await codec.close();
});

t.test('a gateway that closes while conversions start', linux, async (t) => {
  for (const wait of [0, 40]) {
    const codec = createCodec();
    if (wait > 0) await lastValueFrom(codec.convert(Buffer.alloc(100), samples, new Backpressure()));
    const refused = kinds.map((kind) => t.rejects(lastValueFrom(kind(codec))));
    await delay(Math.random() * wait);
    await codec.close();
    await Promise.all(refused);
    await noneLeft();
    await t.rejects(
      lastValueFrom(codec.convert(Buffer.alloc(100), samples, new Backpressure())),
      { message: 'The service is shutting down' },
      'none starts after it',
    );
  }
});

t.test('a spawner that dies while it starts conversions', linux, async (t) => {
  const codec = createCodec({ maxRuns: 8, maxStreams: 8 });
  for (const wait of [10, 30]) {
    const first = codec.convert(NEVER, samples, new Backpressure()).subscribe({ error: () => undefined });
    const [spawner] = await eventually(() => spawners().length > 0 && spawners(), 'one runs');
    const others = kinds.map((kind) => t.rejects(lastValueFrom(kind(codec))));
    await delay(Math.random() * wait);
    if (spawner !== undefined) process.kill(spawner, 'SIGKILL');
    // Those that had not begun to start have got another spawner, and run.
    const clock = setInterval(() => {
      for (const id of ffmpegs()) process.kill(id, 'SIGKILL');
    }, 50);
    await Promise.all(others);
    clearInterval(clock);
    first.unsubscribe();
    await eventually(() => running(codec) === 0, 'all of them have settled');
    await noneLeft();
  }
  t.ok(await lastValueFrom(codec.convert(Buffer.alloc(100), samples, new Backpressure())), 'others can run');
  await codec.close();
  await noneLeft();
});
