/**
 * Measures how long a 60 MB request with base64 media blocks the event loop.
 * For each step, the longest time between two ticks: CPU time of the thread, and wall time (more on a busy machine).
 * Linux only: `npx tsx test/offload/loop-stall.ts`.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readSync } from 'node:fs';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { firstValueFrom } from 'rxjs';
import { Client } from 'undici';
import { asBuffer } from '../../src/media/base64.ts';
import { createMedia } from '../../src/media/media.ts';
import { createOffload } from '../../src/offload/offload.ts';
import type { Base64, MediaData } from '../../src/ports/media.ts';

const base64 = Buffer.alloc(45_000_000, 'sixty megabytes of base64').toString('base64');
const request = () =>
  Buffer.from(
    JSON.stringify({ messages: [{ content: [{ image_url: { url: `data:image/png;base64,${base64}` } }] }] }),
  );

/** The engine's end, in a process of its own: reads a body and answers. */
const runSink = (): void => {
  const server = createServer((incoming, response) => incoming.resume().on('end', () => response.end('{}')));
  server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
};

const measure = async (): Promise<void> => {
  const sink = fork(new URL(import.meta.url), ['sink']);
  const [{ port }] = await once(sink, 'message');
  const engine = new Client(`http://127.0.0.1:${port}`);
  const offload = createOffload();
  const media = createMedia({ allowPrivate: false });
  const rule = { field: 'url', maxBytes: 64 * 1024 * 1024 };
  await offload.parseJson(Buffer.from('{}'));
  await send(engine, ['{}']);

  console.log(`${'milliseconds'.padEnd(36)}     took    work     gap`);
  await stall('nothing (the machine itself)', () => new Promise((resolve) => setTimeout(resolve, 300)));
  for (let round = 1; round <= 3; round++) {
    console.log(`round ${round}`);
    const body = request();
    const value = await stall('parse on a thread', () => offload.parseJson(body));
    const url = urlOf(value);
    const data = await stall('read the data URI', () => firstValueFrom(media.read(url, rule)));
    await stall('send to the engine, in pieces', () => send(engine, ['{"url":"', data.base64, '"}']));
  }
  console.log('the plain way');
  const body = request();
  const value = await stall('parse on the loop', async () => JSON.parse(body.toString()));
  await stall('check and decode the base64', async () =>
    Buffer.from(urlOf(value).slice(22) as string, 'base64'),
  );
  const data: MediaData = await firstValueFrom(media.read(urlOf(await offload.parseJson(request())), rule));
  const text = await stall('base64 bytes to a string', async () =>
    Buffer.from(data.base64).toString('latin1'),
  );
  await stall('send to the engine, as one string', () => send(engine, [JSON.stringify({ url: text })]));

  await Promise.all([engine.close(), offload.close()]);
  sink.kill();
};

const urlOf = (value: unknown): string | Uint8Array =>
  (value as { messages: { content: { image_url: { url: string } }[] }[] }).messages[0]?.content[0]?.image_url
    .url ?? '';

const send = async (engine: Client, pieces: readonly Base64[]): Promise<void> => {
  const chunks = pieces.map((piece) => (typeof piece === 'string' ? piece : asBuffer(piece)));
  const length = chunks.reduce((total, chunk) => total + chunk.length, 0);
  const response = await engine.request({
    method: 'POST',
    path: '/',
    headers: { 'content-length': String(length) },
    body: Readable.from(chunks, { objectMode: true }),
  });
  await response.body.dump();
};

/** Nanoseconds this thread has been on a processor; what other processes take does not count. */
const clock = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
const digits = Buffer.alloc(32);
const worked = (): number =>
  Number.parseInt(digits.toString('latin1', 0, readSync(clock, digits, 0, 32, 0)), 10);

const stall = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
  await new Promise((resolve) => setTimeout(resolve, 200));
  let longest = 0;
  let longestWork = 0;
  let last = performance.now();
  let lastWork = worked();
  let running = true;
  const turn = () => {
    const now = performance.now();
    const nowWork = worked();
    longest = Math.max(longest, now - last);
    longestWork = Math.max(longestWork, nowWork - lastWork);
    last = now;
    lastWork = nowWork;
    if (running) setImmediate(turn);
  };
  setImmediate(turn);
  const start = performance.now();
  const result = await work();
  const took = performance.now() - start;
  await new Promise((resolve) => setTimeout(resolve, 10));
  running = false;
  const columns = [took, longestWork / 1e6, longest].map((number) => number.toFixed(1).padStart(8));
  console.log(`${name.padEnd(36)} ${columns.join('')}`);
  return result;
};

if (process.argv[2] === 'sink') runSink();
else await measure();
