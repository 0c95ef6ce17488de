/** Tests `sluice engine check` against the simulator, which fits, and against servers with one fault each. */
import t, { type Test } from 'tap';
import { run } from '../../src/cli/main.ts';
import { createCodec } from '../../src/codec/codec.ts';
import { wavHeader } from '../../src/music/wav.ts';
import { startSimulatorServer } from '../../src/simulator/server/server.ts';
import { cut, film, h264, codec as mediaCodec } from '../engines/media-stand-in.ts';
import { VllmOmni } from '../engines/vllm-omni-stand-in.ts';
import { onlyLong, someOf } from '../long.ts';
import { bytes, type Fault, FaultyServer, json } from './faulty-server.ts';

const simulator = await startSimulatorServer({ key: 'secret', renderScale: 0.02 });
t.teardown(() => simulator.close());
t.teardown(() => mediaCodec.close());
const server = await new FaultyServer().start(t, simulator.url);

interface Finding {
  readonly check: string;
  readonly verdict: string;
  readonly detail: string;
}

interface Report {
  readonly url: string;
  readonly kind: string;
  readonly fits: boolean;
  readonly findings: readonly Finding[];
}

const said = async (t: Test, ...words: string[]) => {
  const out = t.capture(process.stdout, 'write', () => true);
  const err = t.capture(process.stderr, 'write', () => true);
  const code = await run(['engine', 'check', ...words]);
  const joined = (calls: { args: unknown[] }[]) => calls.map(({ args }) => String(args[0])).join('');
  const result = { code, out: joined(out()), err: joined(err()) };
  out.restore();
  err.restore();
  return result;
};

/** A small size, where there are pictures: they take longest. */
const common = ['--key', 'secret', '--timeout', '60s', '--size', '64x64'];

/** A fast render may be over before the first look at its progress, a short response before a busy client leaves. */
const dependsOnTime = ({ check, verdict }: Finding): boolean =>
  check === 'progress' || (check === 'disconnect' && verdict !== 'fails');

/** What is wrong with a server that has this fault: `✗ check: detail`, notes with `!`. */
const wrong = async (t: Test, kind: string, fault: Fault, ...words: string[]): Promise<string[]> => {
  server.fault = fault;
  const { code, out } = await said(t, server.url, '--kind', kind, ...common, '--json', ...words);
  const { fits, findings } = JSON.parse(out) as Report;
  const found = findings.filter((finding) => finding.verdict !== 'fits' && !dependsOnTime(finding));
  t.equal(fits, !found.some(({ verdict }) => verdict === 'fails'));
  t.equal(code, fits ? 0 : 1);
  return found.map(({ check, verdict, detail }) => `${verdict === 'fails' ? '✗' : '!'} ${check}: ${detail}`);
};

t.test('the simulator fits in every kind', async (t) => {
  const lines: Record<string, string[]> = {
    chat: ['whole response', 'stream', 'usage', 'usage of streams', 'bad request', 'disconnect'],
    embedding: ['two texts', 'order', 'base64', 'usage', 'token ids', 'bad request'],
    rerank: ['three documents', 'usage', 'bad request'],
    image: ['an image', 'two images', 'an edit', 'bad request'],
    speech: ['format', 'speech', 'bad request', 'disconnect'],
    transcription: ['whole text', 'events', 'bad request'],
    video: ['job', 'progress', 'file', 'removal', 'first frame', 'cancellation', 'bad request'],
    music: ['job', 'progress', 'file', 'removal', 'progressive stream', 'cancellation', 'bad request'],
  };
  for (const [kind, checks] of someOf(Object.entries(lines), 3)) {
    const { code, out, err } = await said(t, simulator.url, '--kind', kind, ...common, '--json');
    const report = JSON.parse(out) as Report;
    t.match({ code, err }, { code: 0, err: '' }, kind);
    t.match(report, { url: simulator.url, kind, fits: true });
    t.strictSame(
      report.findings.map((finding) =>
        [dependsOnTime(finding) ? 'fits' : finding.verdict, finding.check].join(' '),
      ),
      ['connection', 'model', ...checks].map((check) => `fits ${check}`),
      JSON.stringify(report.findings),
    );
  }
});

t.test('lines for people', async (t) => {
  const { code, out, err } = await said(t, simulator.url, '--kind', 'rerank', '--model', 'other', ...common);
  t.match({ code, err }, { code: 0, err: '' });
  t.match(
    out,
    /^✓ connection {10}GET \/models is answered 200\n! model {15}other is not listed; listed: simulator, /,
  );
  server.fault = ({ route }, response) =>
    /POST/.test(route) && json(response, 500, { error: { message: 'boom' } });
  const failing = await said(t, server.url, '--kind', 'rerank', ...common);
  t.equal(failing.code, 1);
  t.match(failing.out, /\n✗ three documents {5}The engine could not answer: The engine answered 500: boom\n/);
  t.equal(failing.err, 'sluice engine check: the server does not fit: three documents\n');
});

t.test('invalid arguments', async (t) => {
  const kinds = 'chat, embedding, rerank, image, video, music, speech, transcription';
  for (const [words, says] of [
    [[], 'URL is missing'],
    [['localhost'], 'URL must be an address such as http://10.0.0.5:8000/v1'],
    [[server.url], `--kind must be one of ${kinds}`],
    [[server.url, '--kind', 'mail'], `--kind must be one of ${kinds}`],
    [[server.url, '--kind', 'chat', '--wire', 'grpc'], /^sluice engine check: wire must be one of openai/],
    [
      [server.url, '--kind', 'chat', '--timeout', 'soon'],
      '--timeout must be a time such as 90s or 30m, at most 24h',
    ],
    [[server.url, '--kind', 'image', '--size', 'big'], '--size must be a width and a height such as 832x480'],
    [[server.url, '--kind', 'video', '--capabilities', '[]'], '--capabilities must be a JSON object'],
    [
      [server.url, '--kind', 'video', '--capabilities', '{"fps":"many"}'],
      'capabilities.video.fps must be an integer',
    ],
  ] as const) {
    const { code, out, err } = await said(t, ...words);
    t.strictSame({ code, out }, { code: 2, out: '' }, words.join(' '));
    if (typeof says === 'string') t.equal(err, `sluice engine check: ${says}\n`);
    else t.match(err, says);
  }
});

t.test('a server that cannot be reached, wants a key, lists no model, or takes too long', async (t) => {
  const nothing = await said(t, 'http://127.0.0.1:9/v1', '--kind', 'chat');
  t.strictSame(nothing, {
    code: 1,
    out: '✗ connection          connect ECONNREFUSED 127.0.0.1:9\n',
    err: 'sluice engine check: the server does not fit: connection\n',
  });
  const keyless = await said(t, simulator.url, '--kind', 'chat');
  t.match(keyless.out, /^✗ connection {10}401: a key is needed, --key\n$/);
  const wrongKey = await said(t, simulator.url, '--kind', 'chat', '--key', 'guess');
  t.match(wrongKey.out, /401: the key is not accepted/);
  t.strictSame(
    await wrong(t, 'chat', ({ route }, response) => route === 'GET /v1/models' && json(response, 404, {})),
    ['✗ model: The server lists no models: name one with --model'],
  );
  const begun = Date.now();
  t.strictSame(await wrong(t, 'chat', ({ route }) => route.startsWith('POST'), '--timeout', '1s'), [
    '✗ whole response: The time of --timeout is over',
  ]);
  t.ok(Date.now() - begun < 5000);
});

t.test('faults of chat', { skip: onlyLong }, async (t) => {
  const isStream = (body: Buffer) => body.includes('"stream":true');
  const chat = 'POST /v1/chat/completions';
  const head = (response: Parameters<Fault>[1]) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = (content: string, finish: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;
  t.strictSame(
    await wrong(t, 'chat', ({ route, body }, response) => {
      if (route !== chat || !isStream(body) || body.includes('story')) return false;
      head(response).write(chunk('One'));
      setTimeout(() => response.destroy(), 20);
      return true;
    }),
    ['✗ stream: The connection to the engine broke: The other side closed the connection'],
  );
  t.strictSame(
    await wrong(t, 'chat', ({ route, body }, response) => {
      if (route !== chat || !isStream(body) || body.includes('story')) return false;
      head(response).end(`${chunk('One two three', 'stop')}data: [DONE]\n\n`);
      return true;
    }),
    [
      '! stream: The stream comes in one piece: clients wait for its end',
      '! usage of streams: There is none: the gateway counts tokens itself',
    ],
  );
  t.strictSame(
    await wrong(
      t,
      'chat',
      ({ route, body }, response) =>
        route === chat &&
        !isStream(body) &&
        body.includes('messages') &&
        json(response, 200, { choices: [] }),
    ),
    ['✗ whole response: The engine ended its answer early'],
  );
  const isBad = ({ route, body }: Parameters<Fault>[0]) => route === chat && !body.includes('messages');
  t.strictSame(await wrong(t, 'chat', (asked, response) => isBad(asked) && json(response, 500, {})), [
    '✗ bad request: A request without its required fields is answered 500; it must be a 400, or the gateway takes it for a failure of the server',
  ]);
  t.strictSame(await wrong(t, 'chat', (asked, response) => isBad(asked) && json(response, 200, {})), [
    '✗ bad request: A request without its required fields is answered 200; it must be a 400',
  ]);
  t.strictSame(
    await wrong(t, 'chat', (asked, response) => isBad(asked) && json(response, 422, { wrong: true })),
    ['! bad request: 422 without a message in error.message: clients are not told what is wrong'],
  );
  t.match(
    await wrong(t, 'chat', ({ route, body }, response) => {
      if (route !== chat || !body.includes('story')) return false;
      head(response);
      const writing = setInterval(() => response.write(chunk('word ')), 20);
      response.on('close', () => clearInterval(writing));
      return true;
    }),
    [
      /^✗ disconnect: 5 s after the client disconnected the server still works on the response \(\d{4,} bytes more\)$/,
    ],
  );
});

t.test('faults of embeddings and rerank', async (t) => {
  const vectors =
    (change: (data: { index: number; embedding: unknown }[]) => unknown[], usage?: object): Fault =>
    ({ route, body }, response) => {
      if (route !== 'POST /v1/embeddings' || !body.includes('input')) return false;
      const { input } = JSON.parse(String(body)) as { input: string[] };
      const data = input.map((text, index) => ({
        index,
        embedding: [String(text).length, 1 + Number(String(text).startsWith('Bread')) * 50, 2],
      }));
      return json(response, 200, { data: change(data), usage });
    };
  const usage = { prompt_tokens: 9 };
  t.strictSame(
    await wrong(
      t,
      'embedding',
      vectors((data) => data),
    ),
    ['! usage: There is none: the gateway counts tokens itself'],
  );
  t.strictSame(
    await wrong(
      t,
      'embedding',
      vectors((data) => data.slice(0, 1), usage),
    ),
    ['✗ two texts: The engine sent an answer that cannot be read: The engine gave 1 vectors for 2 inputs'],
  );
  t.strictSame(
    await wrong(
      t,
      'embedding',
      vectors((data) => data.map(({ index }) => ({ index, embedding: [1, 2, 3] })), usage),
    ),
    ['✗ two texts: Different texts have the same vector'],
  );
  t.strictSame(
    await wrong(
      t,
      'embedding',
      vectors((data) => data.map(({ index }) => ({ index, embedding: [0, 0] })), usage),
    ),
    ['✗ two texts: The vector is all zeros'],
  );
  t.strictSame(
    await wrong(
      t,
      'embedding',
      vectors(
        (data) => data.map(({ embedding }, index) => ({ embedding, index: data.length - 1 - index })),
        usage,
      ),
    ),
    ['✗ order: A text alone has another vector than as the second of two'],
  );
  t.strictSame(
    await wrong(
      t,
      'embedding',
      ({ route, body }, response) =>
        route === 'POST /v1/embeddings' &&
        body.includes('[[100') &&
        json(response, 400, { error: 'texts only' }),
    ),
    [
      '! token ids: Not taken: set capabilities.embedding.token_ids to false: The engine answered 400: texts only',
    ],
  );
  const ranked =
    (results: unknown, more: object = { usage }): Fault =>
    ({ route, body }, response) =>
      route === 'POST /v1/rerank' && body.includes('query') && json(response, 200, { results, ...more });
  const scores = [0.1, 0.9, 0.2].map((relevance_score, index) => ({ index, relevance_score }));
  t.strictSame(await wrong(t, 'rerank', ranked(scores)), []);
  t.strictSame(await wrong(t, 'rerank', ranked(scores, {})), [
    '! usage: There is none: the gateway counts tokens itself',
  ]);
  t.strictSame(await wrong(t, 'rerank', ranked(scores.slice(1))), [
    '✗ three documents: The engine sent an answer that cannot be read: The engine gave 2 scores for 3 documents',
  ]);
  t.strictSame(
    await wrong(t, 'rerank', ranked([...scores].map((one, at) => ({ ...one, relevance_score: at })))),
    [
      '! three documents: The document that answers the query is not the most relevant one: 0, 1, 2. Is it a rerank model?',
    ],
  );
});

t.test('faults of images', { skip: onlyLong }, async (t) => {
  const cutImage = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAgAAAAIACAIAAAB7GkOtAAAACXBIWXMAAAABAAAAAQBPJcTWAAAA',
    'base64',
  );
  const images =
    (data: unknown, isIt = (body: Buffer) => body.includes('"n":1')): Fault =>
    ({ route, body }, response) =>
      route === 'POST /v1/images/generations' && isIt(body) && json(response, 200, { created: 1, data });
  t.match(await wrong(t, 'image', images([{ b64_json: cutImage.toString('base64') }])), [
    /^✗ an image: The image of 57 bytes cannot be decoded: cannot be read: the picture is damaged/,
  ]);
  t.strictSame(await wrong(t, 'image', images([])), ['✗ an image: The model answered without an image']);
  t.strictSame(
    await wrong(
      t,
      'image',
      images([{ b64_json: cutImage.toString('base64') }], (body) => body.includes('"n":2')),
    ),
    [
      '! two images: Not in one request: set fan_out_n in the row of the engine: The model made 1 of 2 images',
    ],
  );
  t.strictSame(
    await wrong(
      t,
      'image',
      ({ route }, response) => route.endsWith('/edits') && json(response, 404, { detail: 'Not Found' }),
    ),
    [
      '! an edit: Not taken: the model makes images from prompts only: The engine could not answer: The engine answered 404: Not Found',
    ],
  );
});

t.test('faults of speech and transcription', { skip: onlyLong }, async (t) => {
  const samples = Buffer.alloc(48_000 * 3);
  for (let at = 0; at < samples.length; at += 2) samples.writeInt16LE(((at * 37) % 8000) - 4000, at);
  const speech =
    (answer: (response: Parameters<Fault>[1]) => true): Fault =>
    ({ route, body }, response) =>
      route === 'POST /v1/audio/speech' && body.includes('input') && body.length < 1000 && answer(response);
  t.strictSame(
    await wrong(
      t,
      'speech',
      speech((response) => bytes(response, 'audio/pcm', samples)),
    ),
    [],
  );
  t.strictSame(
    await wrong(
      t,
      'speech',
      speech((response) => bytes(response, 'audio/pcm', Buffer.alloc(96_000))),
    ),
    ['✗ speech: 2.0 s of silence'],
  );
  const header = wavHeader({ sampleRate: 24_000, channels: 1, dataBytes: samples.length });
  t.match(
    await wrong(
      t,
      'speech',
      speech((response) => bytes(response, 'audio/wav', Buffer.concat([header, samples]))),
    ),
    [
      '! format: pcm was requested, wav came; with capabilities.speech.engine_format wav the gateway expects it',
    ],
  );
  t.match(
    await wrong(
      t,
      'speech',
      speech((response) => bytes(response, 'text/event-stream', Buffer.from('data: {}\n\n'))),
    ),
    ['✗ format: pcm was requested, text came: data: {}', '✗ speech: The engine sent no sound'],
  );
  const transcripts = 'POST /v1/audio/transcriptions';
  t.strictSame(
    await wrong(
      t,
      'transcription',
      ({ route, body }, response) =>
        route === transcripts && body.includes('"file"') && json(response, 200, { transcript: 'Words' }),
    ),
    [
      '✗ whole text: The engine sent an answer that cannot be read: The answer has no text',
      '✗ events: The engine sent an answer that cannot be read: The answer has no text',
    ],
  );
  t.strictSame(
    await wrong(
      t,
      'transcription',
      ({ route, body }, response) =>
        route === transcripts && body.includes('"file"') && json(response, 200, { text: 'Words' }),
    ),
    [
      '! events: Whole JSON came where events were requested: set capabilities.transcription.streams to false',
    ],
  );
});

t.test('faults of videos', { skip: onlyLong }, async (t) => {
  const job = /^GET \/v1\/videos\/[^/]+$/;
  const whole = await film([...h264, '-f', 'mp4'], false);
  const content = (file: Buffer) =>
    wrong(
      t,
      'video',
      ({ route }, response) => route.endsWith('/content') && bytes(response, 'video/mp4', file),
    );
  t.match(await content(cut(whole, 60)), [/^✗ file: The file of \d+ bytes cannot be decoded: /]);
  t.match(await content(await film(['-c:v', 'libvpx', '-f', 'webm'], false)), [
    '! file: webm (vp8) of 3.0 s, 160x90: the gateway converts every file to video/mp4',
  ]);
  t.strictSame(await content(whole), ['! file: mp4 (h264) of 3.0 s, 160x90, where 64x64 were requested']);
  t.strictSame(
    await wrong(
      t,
      'video',
      ({ route }, response) =>
        route.endsWith('/content') && bytes(response, 'video/mp4', Buffer.from('<html>no</html>')),
    ),
    [
      '✗ file: The file of 15 bytes cannot be decoded: is not in a format that can be read: its first bytes are not those of one',
    ],
  );
  t.strictSame(
    await wrong(
      t,
      'video',
      ({ route, body }, response) =>
        route === 'POST /v1/videos' &&
        body.includes('prompt') &&
        json(response, 200, { id: 'a', status: 'running' }),
    ),
    [
      '✗ job: No record of a job: status must be one of queued, pending, in_progress, completed, failed, cancelled, expired',
    ],
  );
  t.strictSame(
    await wrong(
      t,
      'video',
      ({ route, body }, response) =>
        route === 'POST /v1/videos' &&
        body.includes('prompt') &&
        json(response, 404, { detail: 'Not Found' }),
    ),
    ['✗ job: The engine could not answer: The engine answered 404: Not Found'],
  );
  t.match(
    await wrong(
      t,
      'video',
      ({ route }, response) =>
        job.test(route) &&
        json(response, 200, { id: 'a', status: 'failed', error: { message: 'out of memory' } }),
    ),
    [/^✗ job: out of memory$/],
  );
  t.strictSame(
    await wrong(t, 'video', ({ route }, response) => route.startsWith('DELETE') && json(response, 405, {})),
    [
      '! removal: The finished job is still there after DELETE: files pile up on the server',
      '✗ cancellation: DELETE of a running job is answered 405',
    ],
  );
  t.strictSame(
    await wrong(
      t,
      'video',
      ({ route, body }, response) =>
        route === 'POST /v1/videos' &&
        body.includes('input_reference') &&
        json(response, 400, { error: 'no pictures' }),
    ),
    [
      '! first frame: Not taken: leave it out of capabilities.video.frame_images: The server answered 400: no pictures',
    ],
  );
});

t.test('vLLM-Omni fits with its capabilities only', { skip: onlyLong }, async (t) => {
  const codec = createCodec();
  t.teardown(() => codec.close());
  const omni = await new VllmOmni(codec, 'film').start(t);
  const report = async (...words: string[]) =>
    (JSON.parse((await said(t, omni.url, '--json', '--size', '64x64', ...words)).out) as Report).findings;
  const failing = (findings: readonly Finding[]) =>
    findings.flatMap(({ check, verdict }) => (verdict === 'fails' ? [check] : []));
  const asked = ['--capabilities', '{"asked_by":"vllm"}'];
  const findings = await report('--kind', 'video', ...asked);
  t.strictSame(failing(findings), []);
  t.strictSame(
    findings.filter(({ check }) => check === 'progress'),
    [{ check: 'progress', verdict: 'note', detail: 'None between 0 and 100: clients see an estimate' }],
  );
  t.strictSame(failing(await report('--kind', 'video')), ['job']);
  t.strictSame(failing(await report('--kind', 'speech', ...asked)), []);
});
