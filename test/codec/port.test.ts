/** Tests the audio codec: format detection, conversion and resource limits. */
import { fork } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { concat, from, lastValueFrom, NEVER, Observable, of, toArray } from 'rxjs';
import t from 'tap';
import { createCodec } from '../../src/codec/codec.ts';
import { ApiError } from '../../src/errors.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import {
  codec,
  containers,
  converted,
  described,
  ffmpegs,
  film,
  loudness,
  pitch,
  samplesOf,
  spawners,
  tone,
  wave,
} from '../audio/sounds.ts';
import { eventually } from '../eventually.ts';
import { onlyLong, orLong, someOf } from '../long.ts';
import { thrownBy } from '../thrown-by.ts';
import './own-folder.ts';

t.teardown(() => codec.close());

const homes = (parent: string) => readdirSync(parent).filter((name) => name.startsWith('sluice-codec-'));
const folders = () =>
  readdirSync(tmpdir(), { encoding: 'utf8', recursive: true }).filter((name) =>
    /^sluice-codec-\w+\/run-/.test(name),
  );
const refusal = async (bytes: Uint8Array): Promise<string> => {
  const thrown = await thrownBy(codec.probe(bytes));
  return thrown instanceof ApiError ? `${thrown.status} ${thrown.message}` : String(thrown);
};
const damaged = '400 cannot be decoded: it is damaged, incomplete or not what it looks like';
const empty = '400 holds neither sound nor pictures';
const unknown = '400 is not in a format that can be read: its first bytes are not those of one';
const all = (stream: Observable<Buffer>) => lastValueFrom(stream.pipe(toArray())).then(Buffer.concat);
const raw = ['-f', 's16le', '-ar', '24000', '-ac', '1'];
const bounds = { maxBytes: 64 * 1024 * 1024, timeoutMs: 30_000 };
const soundless = { arguments: ['-f', 's16le'], inputArguments: raw, ...bounds };

t.test('files of every container', async (t) => {
  for (const container of someOf(containers, 3)) {
    const facts = await codec.probe(await tone(1.5, container));
    t.match(facts, { hasAudio: true, hasVideo: false, channels: 1 }, container);
    t.ok(Math.abs(facts.seconds - 1.5) < 0.12, `${container} of ${facts.seconds} seconds`);
    t.equal(facts.container, container);
  }
  const clip = await film(2);
  const facts = await codec.probe(clip);
  t.ok(Math.abs(facts.seconds - 2) < 0.05);
  t.same(facts, {
    container: 'mp4',
    hasVideo: true,
    hasAudio: true,
    seconds: facts.seconds,
    sampleRate: 44_100,
    channels: 1,
    width: 320,
    height: 240,
    audioCodec: 'aac',
    videoCodec: 'h264',
    pixelFormat: 'yuv420p',
    frames: 48,
    fps: 24,
  });
  t.match(await codec.probe(await film(1, false)), { hasVideo: true, hasAudio: false, seconds: 1 });
});

t.test('files that are not what they say', async (t) => {
  const [mp3, flac, m4a, ogg] = await Promise.all(['mp3', 'flac', 'm4a', 'ogg'].map((name) => tone(2, name)));
  if (!mp3 || !flac || !m4a || !ogg) throw new Error('no sounds');
  const second = new Uint8Array(48_000).map((_, at) => at % 251);
  const noise = (first: number[], length = 40_000) =>
    Buffer.concat([Buffer.from(first), Buffer.alloc(length).map((_, at) => (at * 7919 + (at >> 3)) & 255)]);
  for (const [what, bytes, says] of [
    ['nothing', Buffer.alloc(0), '400 is empty'],
    ['zeros', Buffer.alloc(5000), unknown],
    ['one byte', Buffer.from([0xff]), unknown],
    ['text', Buffer.from('Dear Sir or Madam'), unknown],
    ['a playlist', Buffer.from('#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n'), unknown],
    ['a list of files', Buffer.from("ffconcat version 1.0\nfile '/etc/hostname'\n"), unknown],
    ['a picture', Buffer.from('\x89PNG\r\n\x1a\n0000000000', 'latin1'), unknown],
    ['noise called mp3', noise([0xff, 0xfb, 0x90, 0]), damaged],
    ['noise called flac', noise([...Buffer.from('fLaC')]), damaged],
    ['noise called ogg', noise([...Buffer.from('OggS\0')]), damaged],
    ['noise called wav', noise([...Buffer.from('RIFF\0\0\0\0WAVE')]), damaged],
    ['noise called m4a', noise([0, 0, 0, 24, ...Buffer.from('ftypM4A ')]), damaged],
    ['noise called webm', noise([0x1a, 0x45, 0xdf, 0xa3, ...Buffer.from('....webm')]), damaged],
    ['the head of a wav', wave(new Uint8Array(0), { size: 48_000 }), empty],
    ['a wav without samples', wave(new Uint8Array(0)), empty],
    ['no samples a second', wave(second, { rate: 0 }), damaged],
    ['too many a second', wave(second, { rate: 0xffffffff }), damaged],
    ['no channels', wave(second, { channels: 0 }), damaged],
    ['too many channels', wave(second, { channels: 65_535 }), damaged],
    ['bits that nobody has', wave(second, { bits: 77 }), damaged],
    ['an m4a without its start', m4a.subarray(100), unknown],
    ['the head of an mp3', mp3.subarray(0, 60), damaged],
    ['the head of an ogg', ogg.subarray(0, 40), damaged],
    ['the head of a flac', flac.subarray(0, 20), damaged],
  ] as const)
    t.equal(await refusal(bytes), says, what);
  // Builds of ffmpeg differ: one finds nothing in it, another says that it is cut.
  const cut = await refusal(m4a.subarray(0, m4a.length - 200));
  t.ok(cut === empty || cut === damaged, `an m4a without its end: ${cut}`);

  for (const [what, bytes, seconds] of [
    ['half an mp3', mp3.subarray(0, mp3.length / 2), 1],
    ['a flac without its end', flac.subarray(0, flac.length * 0.8), 1.5],
    ['half an ogg', ogg.subarray(0, ogg.length / 2), 1],
    ['a wav that claims four gigabytes', wave(second, { size: 0xfffffff0 }), 1],
    ['a wav that claims less than it has', wave(second, { size: 24_000 }), 0.5],
    ['a flac that claims a year', lyingFlac(flac), 2],
  ] as const) {
    const facts = await codec.probe(bytes);
    t.ok(Math.abs(facts.seconds - seconds) < 0.3, `${what}: ${facts.seconds} seconds are really there`);
  }
  t.same(folders(), [], 'no file is left behind');
});

/** The number of samples is in the last 36 bits before the checksum of the first block. */
const lyingFlac = (flac: Buffer): Buffer => {
  const lying = Buffer.from(flac);
  lying.fill(0xff, 8 + 14, 8 + 18);
  return lying;
};

t.test('any bytes are either refused or identified', async (t) => {
  const heads = [
    'RIFF....WAVEfmt ',
    'fLaC',
    'OggS\0',
    'ID3\x03',
    '\xff\xfb\x90\x64',
    '\0\0\0\x18ftypisom',
    'ADIF',
  ];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 4000 }), async (head, tail) => {
      try {
        const facts = await codec.probe(Buffer.concat([Buffer.from(head, 'latin1'), tail]));
        return facts.seconds > 0;
      } catch (thrown) {
        return thrown instanceof ApiError && thrown.kind === 'invalid_request';
      }
    }),
    { numRuns: orLong(7, 25), seed: 11 },
  );
  t.same(folders(), []);
});

t.test('conversion', async (t) => {
  const sound = await tone(2);
  for (const container of someOf(containers, 2)) {
    const other = await converted(sound, container);
    const samples = await samplesOf(other);
    t.ok(Math.abs(samples.length / 24_000 - 2) < 0.15, `${container} is as long`);
    t.ok(loudness(samples) > 0.05, `${container} is as loud`);
    t.ok(Math.abs(pitch(samples) - 440) < 30, `${container} is as high`);
  }
  const mp3 = await converted(sound, 'mp3');
  t.match(await described(mp3, 'audio/mpeg'), { container: 'MPEG', rate: 24_000, channels: 1 });

  const streamed = await all(
    codec.convert(
      from([sound.subarray(0, 1000), sound.subarray(1000)]),
      { arguments: ['-f', 'flac'], ...bounds },
      new Backpressure(),
    ),
  );
  t.match(
    await codec.probe(streamed),
    { container: 'flac', seconds: 2 },
    'a stream is told from its bytes as well',
  );
  const tagged = await all(
    codec.convert(
      sound,
      { arguments: ['-f', 'flac'], comment: '-f null\n; rm -rf $(pwd) \0 é', ...bounds },
      new Backpressure(),
    ),
  );
  t.ok(tagged.includes('-f null\n; rm -rf $(pwd)  é'), 'a comment is text, whatever stands in it');
});

t.test('playlists in disguise reach neither files nor the network', async (t) => {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests++;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.mp3`;
  for (const text of [
    `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${url}\n`,
    `ffconcat version 1.0\nfile '${url}'\n`,
  ]) {
    t.equal(await refusal(Buffer.from(text)), unknown);
    // Also behind the head of a format that is taken.
    t.equal(
      await refusal(Buffer.concat([Buffer.from('ID3\x03\0\0\0\0\0\0', 'latin1'), Buffer.from(text)])),
      damaged,
    );
  }
  t.equal(requests, 0);
});

t.test('bounds', async (t) => {
  const refused = async (stream: Observable<Buffer>) => {
    const thrown = await thrownBy(all(stream));
    return thrown instanceof ApiError ? `${thrown.status} ${thrown.message}` : String(thrown);
  };
  t.equal(
    await refused(
      codec.convert(new Uint8Array(100_000), { ...soundless, maxBytes: 50_000 }, new Backpressure()),
    ),
    '400 becomes too large when it is converted',
  );
  t.equal(
    await refused(
      codec.convert(
        new Uint8Array(100_000),
        { ...soundless, maxBytes: 50_000, seekableOutput: true, arguments: ['-f', 'wav'] },
        new Backpressure(),
      ),
    ),
    '400 becomes too large when it is converted',
  );
  t.equal(
    await refused(
      codec.convert(
        concat(of(new Uint8Array(10)), NEVER),
        { ...soundless, timeoutMs: 300 },
        new Backpressure(),
      ),
    ),
    '503 takes too long to convert',
  );
  t.equal(
    await refused(
      codec.convert(Buffer.from('text'), { arguments: ['-f', 'wav'], ...bounds }, new Backpressure()),
    ),
    unknown,
  );
  t.match(
    await thrownBy(
      all(
        codec.convert(
          undefined,
          { ...bounds, inputArguments: ['-f', 'lavfi', '-i', 'nonsense'], arguments: ['-f', 'wav'] },
          new Backpressure(),
        ),
      ),
    ),
    { name: 'ProcessFailure' },
    'arguments of ours that are wrong are our fault',
  );

  const narrow = createCodec({ maxStreams: 1, maxWaiting: 1, maxWait: 200 });
  const endless = () => narrow.convert(NEVER, soundless, new Backpressure());
  const running = endless().subscribe();
  await eventually(() => ffmpegs().length === 1, 'a process runs');
  const waiting = refused(endless());
  t.equal(
    await refused(endless()),
    '503 The service is busy with other sound and video; retry in a moment',
    'the line is full',
  );
  t.equal(
    await waiting,
    '503 The service is busy with other sound and video; retry in a moment',
    'waits so long only',
  );
  running.unsubscribe();
  await eventually(() => ffmpegs().length === 0, 'it is gone');
  t.match(await narrow.probe(await tone(1)), { seconds: 1 }, 'and there is room again');

  const closing = all(endless());
  await eventually(() => ffmpegs().length === 1, 'another runs');
  await Promise.all([t.rejects(closing, { message: 'The service is shutting down' }), narrow.close()]);
  t.same(ffmpegs(), []);
  t.same(folders(), []);
});

t.test('output waits for backpressure, input for the process', async (t) => {
  const backpressure = new Backpressure();
  const inputBackpressure = new Backpressure();
  backpressure.pause();
  let sent = 0;
  let paused = 0;
  const source = new Observable<Uint8Array>((subscriber) => {
    const chunk = new Uint8Array(48_000);
    const more = () => {
      while (!inputBackpressure.paused && sent < 400) {
        sent++;
        subscriber.next(chunk);
      }
      if (sent >= 400) subscriber.complete();
    };
    inputBackpressure.attach({ pause: () => paused++, resume: more });
    more();
  });
  let received = 0;
  const done = new Promise<void>((resolve, reject) => {
    codec.convert(source, { ...soundless, inputBackpressure }, backpressure).subscribe({
      next: (bytes) => {
        received += bytes.length;
      },
      error: reject,
      complete: resolve,
    });
  });
  await eventually(() => paused > 0, 'the input is held back');
  const held = sent;
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.equal(received, 0, 'nothing comes before it is wanted');
  t.ok(held < 60 && sent < 60, `only ${sent} of 400 pieces went in`);
  backpressure.resume();
  await done;
  t.equal(received, 400 * 48_000);
  t.equal(sent, 400);
});

t.test('a process may exit before a busy event loop reads its pipes', async (t) => {
  const busy = setInterval(() => {
    const until = performance.now() + 60;
    while (performance.now() < until);
  }, 5);
  t.teardown(() => clearInterval(busy));
  const short = { ...bounds, inputArguments: ['-f', 'lavfi', '-i', 'sine=duration=0.1'] };
  const made = await Promise.all(
    [false, true, false, true].map((seekableOutput) =>
      all(
        codec.convert(
          undefined,
          { ...short, seekableOutput, arguments: ['-f', 's16le'] },
          new Backpressure(),
        ),
      ),
    ),
  );
  t.same(
    made.map(({ length }) => length),
    [8820, 8820, 8820, 8820],
  );
});

t.test('a killed conversion leaves nothing behind', { skip: onlyLong }, async (t) => {
  const own = createCodec();
  const broken = t.rejects(all(own.convert(NEVER, soundless, new Backpressure())), {
    name: 'ProcessFailure',
  });
  await eventually(() => ffmpegs().length === 1, 'a process runs');
  const [ffmpeg] = ffmpegs();
  for (const spawner of spawners()) process.kill(spawner, 'SIGKILL');
  await broken;
  await eventually(() => !existsSync(`/proc/${ffmpeg}`), 'it ended with the one that started it');
  t.match(await own.probe(await tone(1)), { seconds: 1 }, 'and another one starts the next');
  await own.close();

  const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
  const gateway = fork(fileURLToPath(import.meta.url).replace('port.test', 'endless'), {
    env: { ...process.env, TMPDIR: folder },
  });
  t.teardown(() => gateway.kill('SIGKILL'));
  // It looks at its ffmpeg first, which is no conversion yet.
  await eventually(
    () => spawners().length === 1 && ffmpegs().length === 1,
    'a process of a gateway runs',
    90,
  );
  const left = [...ffmpegs(), ...spawners()];
  t.equal(left.length, 2);
  t.equal(homes(folder).length, 1);
  gateway.kill('SIGKILL');
  await eventually(() => !left.some((id) => existsSync(`/proc/${id}`)), 'they end with it');
  t.same(homes(folder), []);
});

t.test('a program that is missing or not executable', async (t) => {
  const absent = createCodec({ ffmpeg: '/nonexistent/ffmpeg' });
  const thrown = await thrownBy(absent.probe(await tone(1)));
  t.match(thrown, { status: 500, message: 'Sound and video cannot be processed on this server' });
  t.match((thrown as Error).cause, {
    message: 'ffmpeg is not usable: /nonexistent/ffmpeg cannot be executed',
  });

  const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const script = join(folder, 'ffmpeg');
  const probed = async (...lines: readonly string[]) => {
    writeFileSync(script, ['#!/bin/sh', ...lines, ''].join('\n'));
    chmodSync(script, 0o644);
    return thrownBy(createCodec({ ffmpeg: script }).probe(await tone(1)));
  };
  t.match(await probed('exit 1'), { status: 500 }, 'it says no version');
  const old = await probed('echo ffmpeg version 4.4.2-0ubuntu0 >&2');
  t.match((old as Error).cause, {
    message: `ffmpeg is not usable: ${script}: 4.4.2-0ubuntu0 is older than 5.1`,
  });
  t.match(await probed('echo ffmpeg version 6.0 >&2', '[ "$1" = -encoders ]'), { status: 400 }, 'it was run');
});
