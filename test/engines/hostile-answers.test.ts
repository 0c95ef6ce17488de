/** Tests what is made of chat answers: unsplit reasoning, repeated prefixes, stop sequences and estimated media. */
import t from 'tap';
import { completion, eventsOf, startBehindGateway } from './behind-gateway.ts';
import { event, type ReceivedRequest } from './scripted-engine.ts';

const catalog = (url: string) => `
engines:
  lab: { wire: openai, replicas: ['${url}'] }
  lab-n: { wire: openai, replicas: ['${url}'], fan_out_n: true }
models:
  lab/plain: { engine: lab, served_as: writer, context_length: 8192, tokenizer: simulator }
  lab/single: { engine: lab-n, served_as: writer, context_length: 8192, tokenizer: simulator }
  lab/eye: { engine: lab, served_as: writer, context_length: 4096, tokenizer: simulator, input_modalities: [text, image, video] }
  lab/eye-thinker: { engine: lab, served_as: writer, context_length: 4096, tokenizer: simulator, input_modalities: [text, image, video], reasoning: { mandatory: false, supports_max_tokens: true, default_enabled: true } }
  lab/thinker:
    engine: lab
    served_as: writer
    context_length: 8192
    pricing: { prompt: '0.000001', completion: '0.000002', internal_reasoning: '0.00001' }
    reasoning: { mandatory: false, default_enabled: true }
`;

const messages = [{ role: 'user', content: 'Hi' }];

interface Streamed {
  readonly deltas: readonly object[];
  readonly end?: object;
  readonly usage?: object | undefined;
}

/** Chunks as servers send them. */
const stream = (request: ReceivedRequest, { deltas, end = {}, usage }: Streamed): void => {
  const chunk = (delta: object, more: object = {}) =>
    event({ id: 'c', object: 'x', choices: [{ index: 0, delta, finish_reason: null, ...more }] });
  request.streamHead();
  for (const delta of deltas) request.chunk(chunk(delta));
  request.chunk(chunk({}, { finish_reason: 'stop', ...end }));
  if (usage !== undefined) request.chunk(event({ id: 'c', choices: [], usage }));
  request.chunk('data: [DONE]\n\n');
  request.end();
};

t.test('reasoning that the engine does not count apart', async (t) => {
  const { engine, post, billed } = await startBehindGateway(t, () => undefined, catalog);
  const counts = { prompt_tokens: 100, completion_tokens: 40, total_tokens: 140 };
  const thoughts = Array.from({ length: 30 }, () => ({ reasoning_content: 'hm, ' }));
  const words = Array.from({ length: 10 }, () => ({ content: 'so, ' }));
  const asked = { model: 'lab/thinker', messages, stream: true };
  const cost = (prompt: number, said: number, thought: number) =>
    prompt * 1e-6 + said * 2e-6 + thought * 1e-5;

  const usages: readonly (readonly [name: string, usage: object | undefined, reasoning: number])[] = [
    ['no split', counts, 30],
    ['a split that says 0', { ...counts, completion_tokens_details: { reasoning_tokens: 0 } }, 30],
    ['a top-level 0, as SGLang has it', { ...counts, reasoning_tokens: 0 }, 30],
    ['a split of its own', { ...counts, completion_tokens_details: { reasoning_tokens: 33 } }, 33],
    ['a split that is too large', { ...counts, completion_tokens_details: { reasoning_tokens: 99 } }, 40],
  ];
  for (const [name, usage, reasoning] of usages) {
    engine.script = (request) => stream(request, { deltas: [...thoughts, ...words], usage });
    const answer = await post('/chat/completions', asked);
    t.match(
      eventsOf(answer.text).at(-1),
      { usage: { completion_tokens: 40, completion_tokens_details: { reasoning_tokens: reasoning } } },
      name,
    );
    const row = await billed(answer);
    t.match(row, { prompt_tokens: 100, completion_tokens: 40, reasoning_tokens: reasoning }, name);
    t.ok(Math.abs(Number(row.cost) - cost(100, 40 - reasoning, reasoning)) < 1e-12, `${name}: ${row.cost}`);
  }

  engine.script = (request) => stream(request, { deltas: [...thoughts, ...words], usage: counts });
  const hidden = await post('/chat/completions', { ...asked, include_reasoning: false });
  t.notMatch(hidden.text, /hm, /);
  t.match(await billed(hidden), { completion_tokens: 40, reasoning_tokens: 30 }, 'hidden reasoning too');
  const message = await post('/messages', {
    model: 'lab/thinker',
    messages,
    max_tokens: 4000,
    thinking: { type: 'adaptive' },
    stream: true,
  });
  t.match(
    eventsOf(message.text).findLast(({ type }) => type === 'message_delta'),
    {
      usage: { output_tokens: 40, output_tokens_details: { thinking_tokens: 30 } },
    },
  );

  const whole = { content: 'x'.repeat(100), reasoning: 'y'.repeat(300) };
  engine.script = (request) => request.json(200, completion(whole, { usage: counts }));
  for (const model of ['lab/thinker', 'lab/plain']) {
    const answer = await post('/chat/completions', { model, messages });
    t.match(
      answer.json,
      { usage: { completion_tokens: 40, completion_tokens_details: { reasoning_tokens: 30 } } },
      `whole, ${model}`,
    );
  }
  engine.script = (request) => request.json(200, completion({ content: 'Hello' }, { usage: counts }));
  const plain = await post('/chat/completions', { model: 'lab/thinker', messages });
  t.match(
    plain.json,
    { usage: { completion_tokens_details: { reasoning_tokens: 0 } } },
    'none, none counted',
  );
  engine.script = (request) =>
    request.json(200, completion({ reasoning: 'y'.repeat(300) }, { usage: counts }));
  const only = await post('/chat/completions', { model: 'lab/thinker', messages });
  t.match(only.json, { usage: { completion_tokens_details: { reasoning_tokens: 40 } } }, 'nothing else');
});

t.test('a continued message that the engine repeats', async (t) => {
  const { engine, post } = await startBehindGateway(t, () => undefined, catalog);
  const continued = (content: string | object[]) => [...messages, { role: 'assistant', content }];
  const answers = (content: string | object): void => {
    engine.script = (request) =>
      request.json(200, completion(typeof content === 'string' ? { content } : content));
  };
  const textOf = async (model: string, prefix: string | object[], more: object = {}) => {
    const answer = await post('/chat/completions', { model, messages: continued(prefix), ...more });
    const { choices } = answer.json as { choices: { message: { content: string } }[] };
    return choices.map(({ message }) => message.content).join('|');
  };

  answers('one "two" three\n four');
  t.equal(await textOf('lab/plain', 'one "two" three'), '\n four');
  t.equal(await textOf('lab/plain', 'one "two" three  \n'), '\n four', 'as it was sent: trimmed');
  answers('Ünïcode 👋 and\nmore');
  const parts = [
    { type: 'text', text: 'Ünïcode 👋 and' },
    { type: 'text', text: 'more' },
  ];
  t.equal(await textOf('lab/plain', parts), '', 'nothing was added');
  answers('{"a":1}');
  t.equal(await textOf('lab/plain', '{'), '"a":1}', 'a short one, of an engine that is not known yet');
  answers({ content: 'one two three four', reasoning: 'Hm' });
  t.equal(await textOf('lab/thinker', 'one two three'), ' four', 'beside a thought');
  answers('one two three four');
  t.equal(await textOf('lab/single', 'one two three', { n: 2 }), ' four| four', 'each choice');

  answers(' four');
  t.equal(await textOf('lab/plain', 'one two three'), ' four', 'one that adds only is left alone');
  answers('[1],[2]]');
  t.equal(await textOf('lab/plain', '['), '[1],[2]]', 'from then on short repetitions are its own');
  answers('one two three four');
  t.equal(await textOf('lab/plain', 'one two three'), ' four', 'long ones never are');
  t.equal(await textOf('lab/plain', 'one two thr'), 'ee four');

  const message = await post('/messages', {
    model: 'lab/plain',
    max_tokens: 9,
    messages: continued('one two three'),
  });
  t.match(message.json, { content: [{ type: 'text', text: ' four' }] }, 'messages');
  const fresh = await post('/chat/completions', { model: 'lab/plain', messages });
  t.match(fresh.json, { choices: [{ message: { content: 'one two three four' } }] }, 'nothing to continue');
  engine.script = (request) => stream(request, { deltas: [{ content: ' four' }] });
  const streamed = await post('/chat/completions', {
    model: 'lab/plain',
    messages: continued('one two three'),
    stream: true,
  });
  t.match(streamed.text, /"content":" four"/);
});

t.test('the stop sequence that matched', async (t) => {
  const { engine, post } = await startBehindGateway(t, () => undefined, catalog);
  const cases: readonly (readonly [name: string, choice: object, stop: string[], expected: object])[] = [
    ['vLLM', { stop_reason: 'END' }, ['###', 'END'], { stop_reason: 'stop_sequence', stop_sequence: 'END' }],
    ['SGLang', { matched_stop: 'END' }, ['END'], { stop_reason: 'stop_sequence', stop_sequence: 'END' }],
    ['a token', { stop_reason: 128_009 }, ['END'], { stop_reason: 'end_turn', stop_sequence: null }],
    ['SGLang, a token', { matched_stop: 2 }, ['2'], { stop_reason: 'end_turn', stop_sequence: null }],
    [
      'one of the engine’s',
      { stop_reason: '<|im_end|>' },
      ['END'],
      { stop_reason: 'end_turn', stop_sequence: null },
    ],
    ['none asked for', { stop_reason: 'END' }, [], { stop_reason: 'end_turn', stop_sequence: null }],
    [
      'some one',
      { finish_reason: 'stop_sequence' },
      ['END'],
      { stop_reason: 'stop_sequence', stop_sequence: 'END' },
    ],
    [
      'some one of two',
      { finish_reason: 'stop_sequence' },
      ['END', '###'],
      { stop_reason: 'stop_sequence', stop_sequence: null },
    ],
    [
      'some one of none',
      { finish_reason: 'stop_sequence' },
      [],
      { stop_reason: 'end_turn', stop_sequence: null },
    ],
    ['nothing', {}, ['END'], { stop_reason: 'end_turn', stop_sequence: null }],
    [
      'the limit',
      { finish_reason: 'length', stop_reason: 'END' },
      ['END'],
      { stop_reason: 'max_tokens', stop_sequence: null },
    ],
  ];
  // Twice: the shape of a whole answer is learnt from the first of its kind.
  for (const [name, choice, stop, expected] of [...cases, ...cases]) {
    const asked = { model: 'lab/plain', messages, max_tokens: 99, stop_sequences: stop };
    engine.script = (request) => request.json(200, completion({ content: 'Hello' }, { choice }));
    const { json } = await post('/messages', asked);
    t.match(
      json,
      { type: 'message', content: [{ type: 'text', text: 'Hello' }], ...expected },
      `${name}, whole`,
    );
    engine.script = (request) => stream(request, { deltas: [{ content: 'Hello' }], end: choice });
    const streamed = await post('/messages', { ...asked, stream: true });
    const ending = eventsOf(streamed.text).find(({ type }) => type === 'message_delta');
    t.match(ending, { delta: expected }, `${name}, streamed`);
  }
});

t.test('media are estimates: they shorten a completion and refuse nothing', async (t) => {
  const { engine, post, sent } = await startBehindGateway(
    t,
    (request) => request.json(200, completion({ content: 'Seen' })),
    catalog,
  );
  const png =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const image = { type: 'image_url', image_url: { url: png } };
  const see = (images: number, text: string, fields: object = {}, model = 'lab/eye') =>
    post('/chat/completions', {
      model,
      messages: [{ role: 'user', content: [{ type: 'text', text }, ...Array(images).fill(image)] }],
      ...fields,
    });
  const left = (window: number, text: number) => window - 32 - text;

  t.equal((await see(1, 'Hi')).status, 200);
  const one = Number(sent().max_tokens);
  t.ok(one > 2900 && one < 3100, `one image leaves less: ${one}`);
  for (const images of [4, 20]) {
    const answer = await see(images, 'Hi');
    t.equal(answer.status, 200, `${images} images that may not fit: ${answer.text}`);
    const most = Number(sent().max_tokens);
    t.ok(most >= Math.floor(left(4096, 20) / 4) && most < one, `a quarter is left: ${most}`);
  }
  t.equal((await see(20, 'Hi', { max_tokens: 100 })).status, 200);
  t.equal(sent().max_tokens, 100, 'a small limit stays');

  const called = engine.requests.length;
  const refused = await see(1, 'word '.repeat(5000));
  t.equal(refused.status, 400, 'text alone that fills the window is refused');
  const [, tokens] = /prompt is too long: (\d+) tokens > 4064 maximum/.exec(refused.text) ?? [];
  t.ok(Number(tokens) > 4900 && Number(tokens) < 5100, `by its own tokens: ${tokens}`);
  t.equal(engine.requests.length, called);

  const thinker = 'lab/eye-thinker';
  const budget = await see(20, 'Hi', { reasoning: { max_tokens: 3000 } }, thinker);
  t.equal(budget.status, 200, `a budget that would fit without them: ${budget.text}`);
  const { max_tokens: limit, reasoning } = sent() as {
    max_tokens: number;
    reasoning: { max_tokens: number };
  };
  t.equal(reasoning.max_tokens, Math.floor(limit / 2), 'is cut as well');
  const tooMuch = await see(20, 'Hi', { reasoning: { max_tokens: 4090 } }, thinker);
  t.match(tooMuch.json, { error: { message: /^reasoning\.max_tokens must be below/ } });
});
