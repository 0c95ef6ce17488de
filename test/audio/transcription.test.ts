/** Tests the transcription route over a real socket: bodies, formats, streams, faults and billing. */
import t from 'tap';
import { eventually } from '../eventually.ts';
import { onlyLong } from '../long.ts';
import { bytesOf, eventsOf, fileOf, startSounding } from './sound-gateway.ts';
import { codec, containers, converted, tone, wave } from './sounds.ts';

const { gateway, events, post, postForm, speak, transcribe } = await startSounding();
t.teardown(async () => {
  await gateway.stop();
  await codec.close();
});

const model = 'sluice/transcribe';
const usage = (seconds: number) => ({ type: 'duration', seconds, cost: seconds / 10_000 });
const about = (seconds: number) => `This is a recording of about ${seconds} seconds.`;

t.test('JSON and forms', async (t) => {
  const sound = await tone(2.4);
  const answer = { text: about(2), usage: usage(3) };
  const json = await transcribe(sound, 'wav');
  t.equal(json.status, 200);
  t.same(await json.json(), answer);
  t.same(
    await (
      await postForm([
        ['model', model],
        ['file', fileOf(sound)],
      ])
    ).json(),
    answer,
  );
  t.same(
    await (
      await postForm([
        ['file', fileOf(sound, 'x')],
        ['model', model],
      ])
    ).json(),
    answer,
    'the file may come first',
  );
  const all = await postForm([
    ...([
      ['model', model],
      ['language', 'en'],
      ['prompt', 'Sluice'],
      ['temperature', '0.2'],
    ] as const),
    ...([
      ['response_format', 'json'],
      ['stream', 'false'],
      ['user', 'u'],
      ['session_id', 's'],
      ['trace', '{}'],
    ] as const),
    ['include[]', 'logprobs'],
    ['file', fileOf(sound)],
  ]);
  t.same(await all.json(), answer);
  t.same(
    await (
      await transcribe(sound, 'wav', { language: 'EN', prompt: null, temperature: 0, stream: null, user: 1 })
    ).json(),
    answer,
    'null is absent',
  );
});

t.test('text', async (t) => {
  const sound = await tone(2);
  const json = await transcribe(sound, 'wav', { response_format: 'text' });
  t.equal(json.headers.get('content-type'), 'text/plain; charset=utf-8');
  t.equal(await json.text(), about(2));
  const form = await postForm([
    ['model', model],
    ['response_format', 'text'],
    ['file', fileOf(sound)],
  ]);
  t.equal(await form.text(), about(2));
});

t.test('every format is detected by its bytes', { skip: onlyLong }, async (t) => {
  for (const container of containers) {
    const sound = await tone(3, container);
    const right = (await (await transcribe(sound, container)).json()) as { text: string };
    t.equal(right.text, about(3), container);
    const wrong = await transcribe(sound, container === 'wav' ? 'mp3' : 'wav');
    t.equal(wrong.status, 200, `${container} under another name`);
  }
});

t.test('streams', async (t) => {
  const sound = await tone(2);
  const streamed = await transcribe(sound, 'wav', { stream: true });
  t.equal(streamed.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  const all = await eventsOf(streamed);
  const deltas = all.slice(0, -1);
  t.ok(deltas.length > 3, `${deltas.length} pieces`);
  t.ok(deltas.every(({ event, data }) => event === 'transcript.text.delta' && data.type === event));
  t.equal(deltas.map(({ data }) => data.delta).join(''), about(2));
  t.same(all.at(-1), {
    event: 'transcript.text.done',
    data: { type: 'transcript.text.done', text: about(2), usage: usage(2) },
  });
  const form = await eventsOf(
    await postForm([
      ['model', model],
      ['stream', 'true'],
      ['response_format', 'text'],
      ['file', fileOf(sound)],
    ]),
  );
  t.same(form.at(-1)?.data.text, about(2));
});

t.test('failures', async (t) => {
  const sound = await tone(1);
  const failure = {
    ...{ code: 503, message: 'Simulated failure 503', type: 'server_error', param: null },
    metadata: { error_type: 'provider_overloaded' },
  };
  for (const stream of [false, true]) {
    const response = await transcribe(sound, 'wav', { stream, prompt: '/sim fail=503@0' });
    t.equal(response.status, 503);
    t.same(await response.json(), { error: failure });
  }
  for (const [fault, status] of [
    ['fail=504@0', 504],
    ['drop@0', 502],
  ] as const)
    t.equal((await transcribe(sound, 'wav', { prompt: `/sim ${fault}` })).status, status, fault);
  const later = await transcribe(sound, 'wav', { prompt: '/sim fail=503@3' });
  t.equal(later.status, 503, 'a whole answer fails as a whole');
  const broken = await eventsOf(await transcribe(sound, 'wav', { stream: true, prompt: '/sim fail=503@2' }));
  t.same(broken, [
    { event: 'transcript.text.delta', data: { type: 'transcript.text.delta', delta: 'This' } },
    { event: 'transcript.text.delta', data: { type: 'transcript.text.delta', delta: ' is' } },
    { event: 'transcript.text.error', data: { type: 'transcript.text.error', error: failure } },
  ]);
});

t.test('usage events', async (t) => {
  const sound = await tone(1.5);
  const of = async (more: object) => {
    const before = events.length;
    await (await transcribe(sound, 'wav', more)).text();
    await eventually(() => events.length > before, 'an event');
    t.equal(events.length, before + 1, 'one for each request');
    return events.at(-1);
  };
  for (const more of [{}, { stream: true }, { response_format: 'text' }])
    t.match(await of(more), {
      route: '/audio/transcriptions',
      model,
      outcome: 'completed',
      quantities: { seconds: '2', prompt_tokens: 0 },
      cost: '0.0002',
    });
  for (const more of [{ prompt: '/sim fail=502@0' }, { stream: true, prompt: '/sim fail=502@2' }])
    t.match(await of(more), { outcome: 'failed', status: 502, cost: '0' });
  const before = events.length;
  t.equal((await transcribe(Buffer.from('no sound at all'), 'wav')).status, 400);
  t.equal(events.length, before, 'what was never asked of an engine is no event');
});

/** Resolves when an engine is called: a client that leaves before, while its recording is read, leaves no event. */
const engineCall = (): Promise<void> =>
  new Promise((resolve) => {
    const { engines } = gateway.ports;
    const { of } = engines;
    engines.of = (model) => {
      engines.of = of;
      resolve();
      return of(model);
    };
  });

t.test('a client that disconnects', async (t) => {
  const sound = await tone(3);
  for (const [prompt, cost] of [
    ['/sim first=60s', '0'],
    ['/sim rate=2/s', '0.0003'],
  ] as const) {
    const before = events.length;
    const leaving = new AbortController();
    const fields = [
      ['model', model],
      ['stream', 'true'],
      ['prompt', prompt],
      ['file', fileOf(sound)],
    ] as const;
    const called = engineCall();
    const call = postForm(fields, leaving.signal);
    if (cost === '0') await called;
    else await (await call).body?.getReader().read();
    leaving.abort();
    await call.catch(() => undefined);
    await eventually(() => events.length > before, 'an event');
    t.match(events.at(-1), { outcome: 'cancelled', status: 499, cost }, prompt);
  }
});

t.test('our own speech is transcribed', { skip: onlyLong }, async (t) => {
  const input = 'Sluices let water through, one gate at a time; "steady" = calm # always.\nEven on Sundays!';
  const heard = async (bytes: Buffer, format: string) =>
    ((await (await transcribe(bytes, format)).json()) as { text: string }).text;
  for (const [voice, format, container] of [
    ['ada', 'mp3', 'mp3'],
    ['ben', 'opus', 'ogg'],
    ['cleo', 'flac', 'flac'],
    ['dan', 'wav', 'wav'],
  ] as const)
    t.equal(
      await heard(await bytesOf(await speak({ input, voice, response_format: format })), container),
      input,
      `${voice} as ${format}`,
    );
  const samples = await bytesOf(await speak({ input, response_format: 'pcm' }));
  t.equal(await heard(wave(samples), 'wav'), input, 'samples in a file of the client');
  const other = 'Something else entirely was said here, and it is longer than the first one by some words.';
  await bytesOf(await speak({ input: other, response_format: 'pcm' }));
  for (const container of containers)
    t.equal(
      await heard(
        await converted(wave(samples), container, '-ac', '2', '-ar', '48000', '-af', 'volume=0.4'),
        container,
      ),
      input,
      `through ${container}, without tags, twice the channels and quieter`,
    );
  for (const speed of [0.25, 4])
    t.equal(
      await heard(await bytesOf(await speak({ input, speed, response_format: 'opus' })), 'ogg'),
      input,
      `at ${speed}`,
    );
  const fast = await bytesOf(await speak({ input, speed: 1.3, response_format: 'pcm' }));
  t.equal(await heard(wave(fast), 'wav'), input, 'faster, without tags');
  t.equal(await heard(await tone(4), 'wav'), about(4), 'a tone is no speech');
});

t.test('25 MB of base64 do not block the event loop', { skip: onlyLong }, async (t) => {
  const sound = wave(new Uint8Array(25 * 1024 * 1024 - 44), { rate: 48_000 });
  /** Reads of a stream: a busy loop sends many tokens at once. */
  const readsOf = async (): Promise<number> => {
    const chat = await post('/chat/completions', {
      model: 'sluice/chat',
      stream: true,
      messages: [{ role: 'user', content: '/sim tokens=400 rate=200/s' }],
    });
    const reader = chat.body?.getReader();
    let reads = 0;
    for (let chunk = await reader?.read(); chunk?.done === false; chunk = await reader?.read()) reads++;
    return reads;
  };
  const alone = await readsOf();
  const [reads, transcript] = await Promise.all([
    readsOf(),
    transcribe(sound, 'wav').then((response) => response.json()),
  ]);
  t.same(transcript, { text: about(273), usage: usage(274) });
  t.ok(reads > alone / 10, `${reads} reads of a stream meanwhile, ${alone} of one alone`);
});
