/** Tests audio engines over HTTP: the simulator, scripted servers and another gateway, with their faults. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { startSimulatorServer } from '../../src/simulator/server/server.ts';
import { eventually } from '../eventually.ts';
import { onlyLong, someOf } from '../long.ts';
import { bytesOf, eventsOf, fileOf, startSounding } from './sound-gateway.ts';
import { codec, loudness, pitch, samplesOf, tone, wave } from './sounds.ts';

t.teardown(() => codec.close());

const asked: { readonly body: unknown }[] = [];
const simulator = await startSimulatorServer({
  rate: Number.POSITIVE_INFINITY,
  onRequest: (request) => asked.push(request),
});
t.teardown(() => simulator.close());

interface Seen {
  readonly url: string;
  readonly type: string;
  readonly body: Buffer;
}

/** A scripted server that records its requests. */
let answer: (response: ServerResponse, seen: Seen) => void = (response) => response.end();
const seen: Seen[] = [];
let left = 0;
const canned = createServer((request: IncomingMessage, response: ServerResponse) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const call = {
      url: request.url ?? '',
      type: request.headers['content-type'] ?? '',
      body: Buffer.concat(pieces),
    };
    seen.push(call);
    response.on('close', () => {
      if (!response.writableFinished) left++;
    });
    answer(response, call);
  });
});
await new Promise<void>((resolve) => canned.listen(0, '127.0.0.1', resolve));
t.teardown(() => canned.closeAllConnections());
t.teardown(() => canned.close());
const cannedUrl = `http://127.0.0.1:${(canned.address() as AddressInfo).port}/v1`;

const far = await startSounding();
t.teardown(() => far.gateway.stop());

const { gateway, events, speak, transcribe, postForm } = await startSounding({
  catalog: `
engines:
  sim: { wire: openai, replicas: ['${simulator.url}'] }
  hand: { wire: openai, replicas: ['${cannedUrl}'] }
  far: { wire: openai, replicas: ['${far.gateway.url}'], headers: { authorization: 'Bearer ${far.gateway.key}' } }
models:
  sim/pcm: { kind: speech, engine: sim, voices: [ada, ben] }
  sim/mp3: { kind: speech, engine: sim, voices: [ada], capabilities: { speech: { engine_format: mp3 } } }
  sim/opus: { kind: speech, engine: sim, voices: [ada], capabilities: { speech: { engine_format: opus } } }
  sim/flac: { kind: speech, engine: sim, voices: [ada], capabilities: { speech: { engine_format: flac } } }
  sim/wav: { kind: speech, engine: sim, voices: [ada], capabilities: { speech: { engine_format: wav } } }
  sim/aac: { kind: speech, engine: sim, voices: [ada], capabilities: { speech: { engine_format: aac } } }
  sim/hear: { kind: transcription, engine: sim, served_as: ears }
  sim/hear-whole: { kind: transcription, engine: sim, capabilities: { transcription: { streams: false } } }
  hand/speech: { kind: speech, engine: hand, served_as: tts, voices: [one], capabilities: { speech: { design: true, clone: true, asked_by: vllm } } }
  hand/openai: { kind: speech, engine: hand, served_as: tts, voices: [one] }
  hand/slow-rate: { kind: speech, engine: hand, voices: [one], capabilities: { speech: { engine_rate: 16000 } } }
  hand/mp3: { kind: speech, engine: hand, voices: [one], capabilities: { speech: { engine_format: mp3 } } }
  hand/hear: { kind: transcription, engine: hand, served_as: whisper }
  hand/hear-wav: { kind: transcription, engine: hand, served_as: whisper, capabilities: { transcription: { formats: [wav, flac] } } }
  far/speech: { kind: speech, engine: far, served_as: sluice/speech, voices: [ada, ben], capabilities: { speech: { design: true, clone: true, asked_by: sluice } } }
  far/hear: { kind: transcription, engine: far, served_as: sluice/transcribe }
`,
});
t.teardown(() => gateway.stop());

const input = 'Far away somebody speaks these words.';
const lastJson = () => JSON.parse(String(seen.at(-1)?.body)) as Record<string, unknown>;
const refusalOf = async (response: Response) => {
  const { error } = (await response.json()) as { error?: { message: string } };
  return `${response.status} ${error?.message}`;
};
const samples = new Uint8Array(48_000).map((_, at) => (at % 2 === 0 ? at % 200 : (at >> 6) % 40));
const sendSound =
  (bytes: Uint8Array, type = 'audio/pcm') =>
  (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': type }).end(bytes);

t.test('speech of the simulator in every format', { skip: onlyLong }, async (t) => {
  const plain = await bytesOf(await speak({ model: 'sim/pcm', input, response_format: 'pcm' }));
  t.ok(loudness(await samplesOf(wave(plain))) > 0.02);
  t.match(asked.at(-1)?.body, { model: 'sim/pcm', input, voice: 'ada', response_format: 'pcm' });
  for (const format of ['mp3', 'opus', 'flac', 'wav', 'aac']) {
    const response = await speak({ model: `sim/${format}`, input, response_format: 'pcm' });
    t.equal(response.status, 200);
    const bytes = await bytesOf(response);
    t.ok(
      Math.abs(bytes.length - plain.length) < 48_000 * 0.2,
      `${format}: ${bytes.length} of ${plain.length} bytes`,
    );
    t.ok(loudness(await samplesOf(wave(bytes))) > 0.02);
    t.match(asked.at(-1)?.body, { response_format: format });
  }
  const mp3 = await bytesOf(await speak({ model: 'sim/pcm', input, speed: 2 }));
  t.ok(Math.abs((await codec.probe(mp3)).seconds - plain.length / 96_000) < 0.2, 'speed is our business');
  t.notOk(JSON.stringify(asked.at(-1)?.body).includes('speed'));
});

t.test('the request that an engine gets', async (t) => {
  answer = sendSound(samples);
  const tuned = {
    instructions: 'Calm',
    language: 'German',
    seed: 7,
    temperature: 0.5,
    top_p: 0,
    top_k: 20,
    speed: 0.5,
    user: 'u',
  };
  await bytesOf(await speak({ model: 'hand/openai', input, ...tuned }));
  t.same(lastJson(), {
    ...{ model: 'tts', input, voice: 'one', instructions: 'Calm', response_format: 'pcm', language: 'de' },
    ...{ seed: 7, temperature: 0.5, top_p: 0.000001, top_k: 20 },
  });
  await bytesOf(await speak({ model: 'hand/openai', input }));
  t.same(
    lastJson(),
    { model: 'tts', input, voice: 'one', response_format: 'pcm' },
    'nothing that was not said',
  );

  await bytesOf(await speak({ model: 'hand/speech', input, language: 'de' }));
  t.same(lastJson(), {
    model: 'tts',
    input,
    task_type: 'CustomVoice',
    voice: 'one',
    response_format: 'pcm',
    language: 'German',
    stream: true,
    stream_format: 'audio',
  });
  await bytesOf(await speak({ model: 'hand/speech', input, temperature: 0.5, top_k: 20 }));
  t.match(lastJson(), { extra_params: { temperature: 0.5, top_k: 20 }, temperature: undefined });
  await bytesOf(await speak({ model: 'hand/speech', input, voice: 'design', instructions: 'Old' }));
  t.same(lastJson(), {
    model: 'tts',
    input,
    task_type: 'VoiceDesign',
    instructions: 'Old',
    response_format: 'pcm',
    language: 'Auto',
    stream: true,
    stream_format: 'audio',
  });
  const clip = await tone(1, 'mp3');
  const reference = { type: 'input_audio', input_audio: { data: clip.toString('base64') } };
  await bytesOf(
    await speak({
      model: 'hand/speech',
      input,
      input_references: [reference, { type: 'text', text: 'Beep' }],
    }),
  );
  t.match(lastJson(), {
    task_type: 'Base',
    ref_audio: `data:audio/mpeg;base64,${clip.toString('base64')}`,
    ref_text: 'Beep',
  });
  const large = await tone(60, 'wav');
  await bytesOf(
    await speak({
      model: 'hand/speech',
      input,
      input_references: [{ type: 'input_audio', input_audio: { data: large.toString('base64') } }],
    }),
  );
  t.match(lastJson(), {
    ref_audio: `data:audio/wav;base64,${large.toString('base64')}`,
    x_vector_only_mode: true,
  });
});

t.test('samples of another rate, and reads that split samples', async (t) => {
  answer = sendSound((await samplesAt(16_000)).subarray(0, 32_000));
  const slow = await bytesOf(await speak({ model: 'hand/slow-rate', input, response_format: 'pcm' }));
  t.ok(Math.abs(slow.length - 48_000) < 500, 'a second is a second');
  t.ok(
    Math.abs(pitch(new Int16Array(slow.buffer, slow.byteOffset, slow.length >> 1)) - 440) < 20,
    'as high as it was',
  );
  answer = (response) => {
    response.writeHead(200, { 'content-type': 'audio/pcm' });
    const send = (at: number): void => {
      if (at >= 9001) response.end();
      else
        response.write(samples.subarray(at, Math.min(9001, at + 1001)), () => setImmediate(send, at + 1001));
    };
    send(0);
  };
  t.same(
    await bytesOf(await speak({ model: 'hand/openai', input, response_format: 'pcm' })),
    Buffer.from(samples.subarray(0, 9000)),
  );
});

const samplesAt = async (rate: number): Promise<Uint8Array> => {
  const sine = Buffer.alloc(rate * 2);
  for (let at = 0; at < rate; at++)
    sine.writeInt16LE(Math.round(9000 * Math.sin((2 * Math.PI * 440 * at) / rate)), at * 2);
  return sine;
};

t.test('faults of speech engines', async (t) => {
  const json = (status: number, body: unknown) => (response: ServerResponse) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const cut = (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'audio/pcm', 'content-length': 96_000 });
    response.write(samples, () => response.destroy());
  };
  for (const [model, how, says] of [
    ['hand/openai', json(400, { error: { message: 'voice is unknown' } }), '400 voice is unknown'],
    ['hand/openai', json(200, { error: { message: 'no such voice', code: 400 } }), '400 no such voice'],
    ['hand/openai', json(200, {}), '502 The engine sent no sound'],
    ['hand/openai', sendSound(new Uint8Array(0)), '502 The engine sent no sound'],
    [
      'hand/mp3',
      sendSound(Buffer.from('no sound at all'), 'audio/mpeg'),
      '502 The engine sent sound that cannot be decoded',
    ],
    ['hand/mp3', json(400, { error: { message: 'too long' } }), '400 too long'],
  ] as const) {
    answer = how;
    t.equal(await refusalOf(await speak({ model, input })), says);
  }
  answer = json(500, { error: { message: 'boom' } });
  t.equal((await speak({ model: 'hand/openai', input })).status, 502);
  answer = cut;
  t.equal((await speak({ model: 'hand/openai', input })).status, 502, 'a file that breaks off is no file');
  const streamed = await eventsOf(
    await speak({ model: 'hand/openai', input, response_format: 'pcm', stream_format: 'sse' }),
  );
  t.equal(streamed.at(-1)?.event, 'speech.audio.error');
  t.match(events.at(-1), { outcome: 'failed', cost: '0' });
  const before = left;
  answer = (response) => response.writeHead(200, { 'content-type': 'audio/pcm' }).write(samples);
  const leaving = new AbortController();
  const response = await speak({ model: 'hand/openai', input, response_format: 'pcm' }, leaving.signal);
  await response.body?.getReader().read();
  leaving.abort();
  await eventually(() => left > before, 'the engine is left as well');
  t.pass('who leaves is left');
});

t.test('transcription', async (t) => {
  const spoken = wave(await bytesOf(await speak({ model: 'sim/pcm', input, response_format: 'pcm' })));
  for (const model of ['sim/hear', 'sim/hear-whole']) {
    t.match(await (await transcribe(spoken, 'wav', { model })).json(), { text: input });
    const streamed = await eventsOf(await transcribe(spoken, 'wav', { model, stream: true }));
    t.equal(streamed.at(-1)?.data.text, input);
    t.match(
      asked.at(-1)?.body,
      model === 'sim/hear' ? { model: 'ears', stream: 'true' } : { stream: undefined },
      'a stream is asked of engines that have it',
    );
  }
  const broken = await eventsOf(
    await transcribe(spoken, 'wav', { model: 'sim/hear', stream: true, prompt: '/sim fail=503@2' }),
  );
  t.equal(broken.at(-1)?.event, 'transcript.text.error');

  const sound = await tone(1, 'mp3');
  const events =
    (...lines: string[]) =>
    (response: ServerResponse) =>
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(lines.map((line) => `data: ${line}\n\n`).join(''));
  const json = (value: unknown) => (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  const chunk = (content: string) =>
    JSON.stringify({ object: 'transcription.chunk', choices: [{ delta: { content } }] });
  const answers = [
    [json({ text: 'Hello' }), false, 'Hello'],
    [json({ text: '' }), false, ''],
    [json({ text: 'Whole' }), true, 'Whole'],
    [events(chunk('Hel'), chunk('lo'), '[DONE]'), true, 'Hello'],
    [
      events('{"type":"transcript.text.delta","delta":"Hi"}', '{"type":"transcript.text.done","text":"Hi"}'),
      true,
      'Hi',
    ],
    [events('{"type":"transcript.text.done","text":"At once"}'), true, 'At once'],
  ] as const;
  for (const [how, stream, text] of someOf(answers, 3)) {
    answer = how;
    const response = await transcribe(sound, 'mp3', {
      model: 'hand/hear',
      stream,
      language: 'en',
      temperature: 0.5,
      prompt: 'é',
    });
    const got = stream ? (await eventsOf(response)).at(-1)?.data : ((await response.json()) as object);
    t.match(got, { text }, text);
  }
  const sent = String(seen.at(-1)?.body.toString('latin1'));
  t.match(seen.at(-1)?.type, /^multipart\/form-data; boundary=/);
  for (const part of [
    'name="model"\r\n\r\nwhisper',
    'name="language"\r\n\r\nen',
    'name="temperature"\r\n\r\n0.5',
    'filename="audio.mp3"',
    'name="stream"\r\n\r\ntrue',
  ])
    t.ok(sent.includes(part), part);
  t.ok(seen.at(-1)?.body.includes(sound), 'the file as it is');

  const refusals = [
    [json({ error: { message: 'language is unknown', code: 400 } }), false, '400 language is unknown'],
    [json({ words: [] }), false, '502'],
    [events('{"error":{"message":"broken","code":503}}'), true, '503 broken'],
    [events('no json'), true, '502'],
  ] as const;
  for (const [how, stream, says] of someOf(refusals, 2)) {
    answer = how;
    t.match(await refusalOf(await transcribe(sound, 'mp3', { model: 'hand/hear', stream })), says);
  }
  const piece = '{"type":"transcript.text.delta","delta":"Hi"}';
  const end = '{"type":"transcript.text.done","text":"Hi"}';
  const holes = [
    '{"type":',
    '7',
    '{"type":"transcript.text.delta"}',
    '{"type":"transcript.text.delta","delta":7}',
    '{"choices":{}}',
    '{"choices":["Hi"]}',
    '{"choices":[{"delta":"Hi"}]}',
    '{"choices":[{"delta":{"content":7}}]}',
  ];
  for (const hole of someOf(holes, 2)) {
    answer = events(piece, hole, end);
    const holed = await eventsOf(await transcribe(sound, 'mp3', { model: 'hand/hear', stream: true }));
    t.match(
      holed.at(-1),
      {
        event: 'transcript.text.error',
        data: { error: { code: 502, message: 'The engine sent an answer that cannot be read' } },
      },
      hole,
    );
  }
  answer = events(piece, '{"type":"transcript.text.segment","text":"Hi"}', '{"choices":[],"usage":{}}', end);
  const whole = await eventsOf(await transcribe(sound, 'mp3', { model: 'hand/hear', stream: true }));
  t.match(whole.at(-1)?.data, { text: 'Hi' }, 'events of other types are ignored');

  answer = events(chunk('Hel'));
  const early = await eventsOf(await transcribe(sound, 'mp3', { model: 'hand/hear', stream: true }));
  t.match(early.at(-1), {
    event: 'transcript.text.error',
    data: { error: { code: 502, message: 'The engine ended its answer early' } },
  });
});

t.test('formats that an engine does not read', { skip: onlyLong }, async (t) => {
  answer = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"text":"ok"}');
  for (const [container, name] of [
    ['mp3', 'audio.wav'],
    ['m4a', 'audio.wav'],
    ['webm', 'audio.wav'],
    ['wav', 'audio.wav'],
    ['flac', 'audio.flac'],
  ] as const) {
    const sound = await tone(1.5, container);
    const form = await postForm([
      ['model', 'hand/hear-wav'],
      ['file', fileOf(sound, `x.${container}`)],
    ]);
    t.match(await form.json(), { text: 'ok', usage: { seconds: 2 } });
    const body = seen.at(-1)?.body ?? Buffer.alloc(0);
    t.ok(body.includes(`filename="${name}"`), `${container} goes as ${name}`);
    const start = body.indexOf('\r\n\r\n', body.indexOf('filename=')) + 4;
    const facts = await codec.probe(body.subarray(start, body.lastIndexOf('\r\n--')));
    t.ok(Math.abs(facts.seconds - 1.5) < 0.1);
  }
});

t.test('another Sluice', { skip: onlyLong }, async (t) => {
  const mp3 = await bytesOf(await speak({ model: 'far/speech', input, voice: 'ben' }));
  t.match(await codec.probe(mp3), { container: 'mp3' });
  t.match(await (await transcribe(mp3, 'mp3', { model: 'far/hear' })).json(), { text: input });
  const streamed = await eventsOf(await transcribe(mp3, 'mp3', { model: 'far/hear', stream: true }));
  t.equal(streamed.at(-1)?.data.text, input);
  const designed = await speak({ model: 'far/speech', input, voice: 'design', instructions: 'Old' });
  t.equal(designed.status, 200);
  const clip = { type: 'input_audio', input_audio: { data: (await tone(1, 'mp3')).toString('base64') } };
  t.equal(
    (await speak({ model: 'far/speech', input, input_references: [clip, { type: 'text', text: 'Beep' }] }))
      .status,
    200,
  );
  const failed = await transcribe(mp3, 'mp3', { model: 'far/hear', stream: true, prompt: '/sim fail=503@2' });
  t.equal((await eventsOf(failed)).at(-1)?.event, 'transcript.text.error');
});
