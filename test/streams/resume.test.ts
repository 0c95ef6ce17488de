/** Tests resumable streams over real sockets: every format, every event, readers, bounds, billing and ends. */
import type { ServerResponse } from 'node:http';
import t from 'tap';
import { sse, startEngine, watchedGateway } from '../chat/watched-gateway.ts';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { ask, contentOf, eventsOf, idOf, lastId, leaveAfter, resume, say, send, whole } from './client.ts';

const resumable = { 'sluice-resumable': '30' };

/** Ids and times differ from one response to the next. */
const comparable = (text: string): string =>
  text
    .replace(/^id: \d+\n/gm, '')
    .replace(/"(id|item_id)":"[^"]*"/g, '"$1":""')
    .replace(/"(created|created_at|completed_at)":\d+/g, '"$1":0')
    .replace(/"signature":"[^"]*"/g, '"signature":""');

const prompt = '/sim tokens=12 seed=3 rate=max';
const formats = {
  '/chat/completions': { model: 'sluice/chat', messages: say(prompt), stream: true },
  '/completions': { model: 'sluice/chat', prompt, stream: true },
  '/messages': { model: 'sluice/chat', messages: say(prompt), max_tokens: 100, stream: true },
  '/responses': { model: 'sluice/chat', input: prompt, stream: true },
  '/audio/speech': {
    model: 'sluice/speech',
    input: 'Hi.',
    voice: 'ada',
    stream_format: 'sse',
    response_format: 'pcm',
  },
};

t.test('each format can be read on after each of its events, byte for byte', async (t) => {
  const gateway = await startGateway();
  t.teardown(() => gateway.stop());
  const store = await ask(gateway, 'POST', '/vector_store', { body: { name: 'empty' } });
  const { id: collection } = JSON.parse(store.text);
  const spoken = await fetch(`${gateway.url}/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sluice/speech', input: 'The lock is full.', response_format: 'wav' }),
  });
  const data = Buffer.from(await spoken.arrayBuffer()).toString('base64');
  const rows = {
    ...formats,
    '/chat/completions/RAG': { ...formats['/chat/completions'], collection },
    '/audio/transcriptions': {
      model: 'sluice/transcribe',
      stream: true,
      input_audio: { data, format: 'wav' },
    },
  };
  for (const [path, body] of Object.entries(rows))
    t.test(path, async (t) => {
      const plain = await ask(gateway, 'POST', path, { body });
      t.equal(plain.status, 200, plain.text);
      t.equal(plain.headers['x-stream-id'], undefined);
      t.notMatch(plain.text, /^id:/m, 'plain streams have no ids');

      const { status, headers, text } = await ask(gateway, 'POST', path, { body, headers: resumable });
      t.equal(status, 200);
      t.equal(headers['sluice-resumable'], '30');
      const id = idOf({ headers });
      t.match(id, /^stream_\w+$/);
      t.equal(comparable(text), comparable(plain.text), 'but for the ids, the same stream');
      const events = eventsOf(text);
      t.ok(events.length > 2, `${events.length} events`);
      t.strictSame(
        events.map((event) => /^id: (\d+)\n/.exec(event)?.[1]),
        events.map((_, index) => String(index)),
        'every event has its number',
      );

      const all = await resume(gateway, id, -1);
      t.equal(all.status, 200);
      t.equal(all.headers['content-type'], 'text/event-stream; charset=utf-8');
      t.equal(all.headers['x-stream-id'], id);
      t.equal(all.text, text);
      for (const after of events.keys()) {
        const rest = await resume(gateway, id, after);
        t.equal(rest.text, events.slice(after + 1).join(''), `after ${after}`);
        t.equal(rest.status, after === events.length - 1 ? 204 : 200);
      }
      const byQuery = await ask(gateway, 'GET', `/streams/${id}?after=1`);
      t.equal(byQuery.text, events.slice(2).join(''));
      const both = await ask(gateway, 'GET', `/streams/${id}?after=0`, { headers: { 'last-event-id': '1' } });
      t.equal(both.text, events.slice(2).join(''), 'the header wins');
    });
});

t.test('stream_options of chat and text completions', async (t) => {
  const gateway = await startGateway();
  t.teardown(() => gateway.stop());
  for (const path of ['/chat/completions', '/completions'] as const) {
    const body = { ...formats[path], stream_options: { resumable: true, include_usage: true } };
    const { headers, text } = await ask(gateway, 'POST', path, { body });
    t.equal(headers['sluice-resumable'], '60', 'the usual time');
    t.equal((await resume(gateway, idOf({ headers }), 2)).text, eventsOf(text).slice(3).join(''));
  }
  const { headers } = await ask(gateway, 'POST', '/chat/completions', {
    body: formats['/chat/completions'],
    headers: { 'sluice-resumable': '86400' },
  });
  t.equal(headers['sluice-resumable'], '300', 'at most what the operator allows');
  const notStreamed = await ask(gateway, 'POST', '/chat/completions', {
    body: { ...formats['/chat/completions'], stream: false },
    headers: resumable,
  });
  t.equal(notStreamed.headers['x-stream-id'], undefined);
  t.equal(JSON.parse(notStreamed.text).object, 'chat.completion', 'what is not streamed is as ever');
  const samples = await ask(gateway, 'POST', '/audio/speech', {
    body: { ...formats['/audio/speech'], stream_format: 'audio' },
    headers: resumable,
  });
  t.equal(samples.headers['x-stream-id'], undefined, 'nor is sound');
  t.ok(samples.text.length > 100);
});

t.test('bad input', async (t) => {
  const gateway = await startGateway();
  t.teardown(() => gateway.stop());
  const refused = (
    code: number,
    message: string,
    type: string,
    error_type: string,
    param: string | null,
  ) => ({
    error: { code, message, type, param, metadata: { error_type } },
  });
  const bad = await ask(gateway, 'POST', '/chat/completions', {
    body: formats['/chat/completions'],
    headers: { 'sluice-resumable': 'long' },
  });
  t.equal(bad.status, 400);
  t.match(
    JSON.parse(bad.text),
    refused(400, 'Sluice-Resumable must be a number of seconds', 'validation_error', 'invalid_request', null),
  );
  const body = { ...formats['/chat/completions'], stream_options: { resumable: 'yes' } };
  const field = await ask(gateway, 'POST', '/chat/completions', { body });
  t.match(JSON.parse(field.text), { error: { code: 400, param: 'stream_options.resumable' } });

  for (const [query, headers, name, param] of [
    ['?after=-1', {}, 'after', 'after'],
    ['?after=x', {}, 'after', 'after'],
    ['', { 'last-event-id': 'x' }, 'Last-Event-ID', null],
  ] as const) {
    const { status, text } = await ask(gateway, 'GET', `/streams/stream_1${query}`, { headers });
    t.equal(status, 400);
    t.match(
      JSON.parse(text),
      refused(400, `${name} must be the number of an event`, 'validation_error', 'invalid_request', param),
    );
  }
  for (const method of ['GET', 'DELETE'])
    for (const id of ['stream_1', 'other', `stream_${'x'.repeat(300)}`, 'stream_%20']) {
      const { status, text } = await ask(gateway, method, `/streams/${id}`);
      t.equal(status, 404);
      const message = `There is no stream ${decodeURIComponent(id).slice(0, 100)}, or its time is over`;
      t.match(JSON.parse(text), refused(404, message, 'not_found_error', 'not_found', null));
    }
});

t.test('streams that cannot be resumed, where the operator wants none', async (t) => {
  const gateway = await startGateway({ env: { SLUICE_RESUMABLE_SECONDS: '0' } });
  t.teardown(() => gateway.stop());
  const { status, headers, text } = await ask(gateway, 'POST', '/chat/completions', {
    body: formats['/chat/completions'],
    headers: resumable,
  });
  t.equal(status, 200);
  t.equal(headers['x-stream-id'], undefined);
  t.notMatch(text, /^id:/m);
});

t.test('browsers may send and read the headers', async (t) => {
  const gateway = await startGateway();
  t.teardown(() => gateway.stop());
  const preflight = await ask(gateway, 'OPTIONS', '/streams/stream_1', {
    headers: { origin: 'https://app.example', 'access-control-request-method': 'GET' },
  });
  t.match(preflight.headers['access-control-allow-headers'], /sluice-resumable, last-event-id/);
  t.equal(preflight.headers['access-control-allow-methods'], 'GET, HEAD, DELETE, OPTIONS');
  t.match(preflight.headers['access-control-expose-headers'], /x-stream-id, \*$/);
});

/** An engine whose answers the test writes. */
const scripted = async (env: Readonly<Record<string, string>> = {}, limits = '') => {
  const calls: ServerResponse[] = [];
  const engine = await startEngine((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    calls.push(response);
  });
  const watched = await watchedGateway(engine.url, { env, model: limits });
  return {
    ...watched,
    calls,
    next: (count: number) =>
      eventually(
        () => calls.length >= count && calls[count - 1],
        'the engine is called',
      ) as Promise<ServerResponse>,
    stop: async () => {
      await watched.gateway.stop();
      await engine.stop();
    },
  };
};

const chat = { model: 'far/chat', messages: say('Hi'), stream: true };
const start = (gateway: Parameters<typeof send>[0], grace = '30') =>
  send(gateway, 'POST', '/chat/completions', { body: chat, headers: { 'sluice-resumable': grace } });

t.test('a stream goes on without its client, holds its slot, and is billed once', async (t) => {
  const at = await scripted({}, ', limits: { concurrency: 1 }');
  t.teardown(() => at.stop());
  const { gateway, events, held, waiting } = at;
  const starting = start(gateway);
  const call = await at.next(1);
  call.write(sse.text('one') + sse.text(' two'));
  const response = await starting;
  const id = idOf(response);
  const before = await leaveAfter(response, 3);
  t.equal(contentOf(before), 'one two');

  const other = start(gateway);
  await eventually(() => waiting() === 1, 'another request waits for the slot');
  call.write(sse.text(' three'));
  const readers = [resume(gateway, id, lastId(before)), resume(gateway, id, 0), resume(gateway, id, -1)];
  await eventually(() => gateway.ports.streams.stats().resumed === 3, 'three readers at once');
  t.equal(held(), 1);
  t.equal(call.destroyed, false);
  call.end(sse.text(' four') + sse.finish + sse.usage + sse.done);
  const [rest, more, all] = await Promise.all(readers);
  t.equal(contentOf([...before, ...eventsOf(rest?.text ?? '')]), 'one two three four');
  t.equal(eventsOf(all?.text ?? '')[0], before[0]);
  t.equal(all?.text, before[0] + (more?.text ?? ''));
  t.equal(all?.text, before.join('') + (rest?.text ?? ''));

  await eventually(() => held() === 1 && waiting() === 0, 'the slot is passed on');
  t.equal(events.length, 1, 'one event, however many read');
  t.match(events[0], {
    id: `usage_req_${id.slice('stream_'.length)}`,
    outcome: 'completed',
    status: 200,
    quantities: { prompt_tokens: 5, completion_tokens: 2 },
  });
  (await at.next(2)).end(sse.finish + sse.usage + sse.done);
  await whole(await other);
  t.equal(events.length, 2);
});

t.test('before the head is out, a client that leaves cancels', async (t) => {
  const at = await scripted();
  t.teardown(() => at.stop());
  const leaving = new AbortController();
  const asked = fetch(`${at.gateway.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${at.gateway.key}`, 'content-type': 'application/json', ...resumable },
    body: JSON.stringify(chat),
    signal: leaving.signal,
  }).catch(() => 'left');
  const call = await at.next(1);
  leaving.abort();
  t.equal(await asked, 'left');
  await eventually(() => call.destroyed && at.held() === 0, 'cancelled');
  await eventually(() => at.events.length === 1, 'recorded');
  t.match(at.events[0], { outcome: 'cancelled', cost: '0' });
  t.equal(at.gateway.ports.streams.stats().memoryBytes, 0);
});

t.test(
  'nobody comes back: it is cancelled after its grace period, and billed as for a client that left',
  async (t) => {
    const at = await scripted();
    t.teardown(() => at.stop());
    const starting = start(at.gateway, '1');
    const call = await at.next(1);
    call.write(sse.text('one') + sse.text(' two'));
    const response = await starting;
    await leaveAfter(response, 3);
    await eventually(() => call.destroyed && at.held() === 0, 'cancelled');
    await eventually(() => at.events.length === 1, 'recorded');
    t.match(at.events[0], { outcome: 'cancelled', status: 499, generated_tokens: 2, cost: '0.000012' });
    const { status, text } = await resume(at.gateway, idOf(response), 0);
    t.equal(status, 404);
    t.match(JSON.parse(text).error.message, 'or its time is over');
    t.match(at.gateway.ports.streams.stats(), { abandoned: 1, detached: 0, memoryBytes: 0 });
  },
);

t.test('DELETE cancels, and removes', async (t) => {
  const at = await scripted();
  t.teardown(() => at.stop());
  const starting = start(at.gateway);
  const call = await at.next(1);
  call.write(sse.text('one') + sse.text(' two'));
  const response = await starting;
  const id = idOf(response);
  const reading = whole(response);
  await eventually(() => at.held() === 1, 'it runs');
  const deleted = await ask(at.gateway, 'DELETE', `/streams/${id}`);
  t.equal(deleted.status, 204);
  t.equal(deleted.text, '');
  const events = eventsOf((await reading).text);
  t.match(JSON.parse(events.at(-2)?.split('\ndata: ')[1] ?? ''), {
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error', native_finish_reason: 'error' }],
    error: { code: 409, message: 'The stream was cancelled' },
  });
  t.equal(events.at(-1), `id: ${events.length - 1}\ndata: [DONE]\n\n`, 'readers are told');
  await eventually(() => call.destroyed && at.held() === 0, 'the engine is, too');
  await eventually(() => at.events.length === 1, 'recorded');
  t.match(at.events[0], { outcome: 'cancelled', status: 499, generated_tokens: 2, cost: '0.000012' });
  t.equal((await resume(at.gateway, id, 0)).status, 404);
  t.equal((await ask(at.gateway, 'DELETE', `/streams/${id}`)).status, 404);
});

t.test('an engine that fails while nobody reads', async (t) => {
  const at = await scripted();
  t.teardown(() => at.stop());
  const starting = start(at.gateway);
  const call = await at.next(1);
  call.write(sse.text('one'));
  const response = await starting;
  const before = await leaveAfter(response, 2);
  call.destroy();
  await eventually(() => at.events.length === 1, 'recorded');
  t.match(at.events[0], { outcome: 'failed', cost: '0' });
  const { text } = await resume(at.gateway, idOf(response), lastId(before));
  const [error, done] = eventsOf(text);
  t.match(JSON.parse(error?.split('\ndata: ')[1] ?? ''), { error: { code: 502 } });
  t.equal(done, `id: ${lastId(before) + 2}\ndata: [DONE]\n\n`);
});

t.test("another subscription's stream is not found", async (t) => {
  const at = await scripted();
  t.teardown(() => at.stop());
  const starting = start(at.gateway);
  const call = await at.next(1);
  call.write(sse.text('one'));
  const response = await starting;
  const id = idOf(response);
  const stream = await at.gateway.ports.streams.find(id.slice('stream_'.length), 'sub_other');
  t.equal(stream, undefined);
  call.end(sse.finish + sse.usage + sse.done);
  await whole(response);
});

const megabyte = 1024 * 1024;

t.test('a full log stops the engine, not memory; what was read long ago is a 410', async (t) => {
  const at = await scripted({ SLUICE_STREAM_LOG_MB: '1', SLUICE_STREAM_LOGS_MB: '4' });
  t.teardown(() => at.stop());
  const starting = start(at.gateway);
  const call = await at.next(1);
  call.write(sse.text('begin'));
  const response = await starting;
  const id = idOf(response);
  const before = await leaveAfter(response, 2);

  // Events of 16 KiB, up to 64 MiB: far more than sockets hold.
  const words = 'x'.repeat(16 * 1024);
  let written = 0;
  let stopped = false;
  const write = (): void => {
    while (!stopped && written < 4096) {
      written++;
      if (!call.write(sse.text(`${written} ${words}`))) {
        call.once('drain', write);
        return;
      }
    }
  };
  write();
  const { streams } = at.gateway.ports;
  await eventually(() => streams.stats().paused > 0, 'the log is full');
  let seen = -1;
  await eventually(
    async () => {
      const same = written === seen;
      seen = written;
      await new Promise((resolve) => setTimeout(resolve, 300));
      return same && written === seen;
    },
    'the engine stands still',
    60,
  );
  t.ok(written < 2000, `${written} of 4096 events were written`);
  const { memoryBytes, diskBytes } = streams.stats();
  t.ok(memoryBytes + diskBytes < 2 * megabyte, `the log has ${memoryBytes + diskBytes} bytes`);

  stopped = true;
  const total = written;
  const reading = resume(at.gateway, id, lastId(before));
  call.end(sse.finish + sse.usage + sse.done);
  const { text } = await reading;
  const content = contentOf(eventsOf(text));
  let expected = '';
  for (let number = 1; number <= total; number++) expected += `${number} ${words}`;
  t.ok(content === expected, 'nothing is missing, and nothing came twice');

  const gone = await resume(at.gateway, id, 0);
  t.equal(gone.status, 410);
  const first = Number(gone.headers['x-stream-first']);
  t.ok(first > 1);
  t.match(JSON.parse(gone.text), {
    error: {
      code: 410,
      message: `The events before ${first} are no longer kept: the stream can be had with after=${first - 1}`,
      type: 'not_found_error',
      metadata: { error_type: 'not_found' },
    },
  });
  const last = await resume(at.gateway, id, first - 1);
  t.equal(last.status, 200);
  const kept = eventsOf(last.text);
  t.match(kept[0], `id: ${first}\n`);
  t.strictSame(kept, eventsOf(text).slice(-kept.length), 'from there on it is all there');
});

t.test('a gateway that stops reports it in the streams it writes, read or not', async (t) => {
  const at = await scripted({ SLUICE_DRAIN_SECONDS: '0' });
  const read = start(at.gateway);
  (await at.next(1)).write(sse.text('one'));
  const reading = whole(await read);
  const left = start(at.gateway);
  (await at.next(2)).write(sse.text('two'));
  await leaveAfter(await left, 2);
  await at.stop();
  const events = eventsOf((await reading).text);
  t.match(JSON.parse(events.at(-2)?.split('\ndata: ')[1] ?? ''), {
    error: { code: 503, message: 'The server is shutting down' },
  });
  t.match(events.at(-1), /data: \[DONE\]/);
  t.strictSame(
    at.events.map(({ outcome, cost }) => [outcome, cost]),
    [
      ['failed', '0'],
      ['failed', '0'],
    ],
  );
});
