/** Where the rest of a stream begins: nothing twice, nothing lost, limits and stop sequences over the whole. */
import t from 'tap';
import { SeamFilter } from '../../src/engines/continuation/seam.ts';
import { type Parts, toJsonText } from '../../src/ports/engines/chat.ts';
import { Random } from '../../src/simulator/random.ts';
import { brokenThen, delta, startPool, text, thought } from './fixtures.ts';

interface Seam {
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly text: string;
  readonly reasoning?: string;
  readonly body?: object;
  readonly model?: string;
  /** Of the second call. */
  readonly final?: object;
  readonly limit?: number;
  readonly finish?: string;
}

const thinks = ', reasoning: { mandatory: false, supports_max_tokens: true, default_enabled: true }';

const seams: Readonly<Record<string, Seam>> = {
  'white space at the end is not sent, and not read twice': {
    before: [text('One,\n\n')],
    after: [text('\n\n'), text('two')],
    text: 'One,\n\ntwo',
    final: { role: 'assistant', content: 'One,' },
  },
  'white space in pieces of another size': {
    before: [text('One \n'), text('  ')],
    after: [text(' '), text('\n '), text(' two')],
    text: 'One \n  two',
    final: { role: 'assistant', content: 'One' },
  },
  'other white space': { before: [text('One ')], after: [text('\n'), text('two')], text: 'One \ntwo' },
  'no white space any more': { before: [text('One ')], after: [text('two')], text: 'One two' },
  'nothing but white space': {
    before: [text('\n')],
    after: [text('\nOne')],
    text: '\nOne',
    final: { role: 'user', content: 'Hi' },
  },
  'half a character': {
    before: ['data: {"choices":[{"index":0,"delta":{"content":"Hi \\ud83c"}}]}\n\n'],
    after: [text(' 🌊!')],
    text: 'Hi 🌊!',
    final: { role: 'assistant', content: 'Hi' },
  },
  'half a character, and its other half escaped': {
    before: ['data: {"choices":[{"index":0,"delta":{"content":"Hi\\ud83c"}}]}\n\n'],
    after: ['data: {"choices":[{"index":0,"delta":{"content":"\\ud83c\\udf0a!"}}]}\n\n'],
    text: 'Hi🌊!',
  },
  'quotes, escapes and controls': {
    before: [text('say "a\\b\u0001')],
    after: [text('c"')],
    text: 'say "a\\b\u0001c"',
    final: { role: 'assistant', content: 'say "a\\b\u0001' },
  },
  'the end alone is missing': { before: [text('One')], after: [], text: 'One' },
  'a stop sequence across the seam': {
    body: { stop: ['STOP', '!!'] },
    before: [text('One ST')],
    after: [text('O'), text('P two')],
    text: 'One ST',
    finish: 'stop',
  },
  'the beginning of a stop sequence that is none': {
    body: { stop: ['STOP', 'T-X'] },
    before: [text('One ST')],
    after: [text('O'), text('N'), text('E')],
    text: 'One STONE',
  },
  'the beginning of a stop sequence at the end': {
    body: { stop: ['STOP'] },
    before: [text('One ST')],
    after: [text('O')],
    text: 'One STO',
  },
  'the limit counts over the whole': {
    body: { max_tokens: 10 },
    before: [text('One'), text(' two'), text(' three')],
    after: [text(' four')],
    text: 'One two three four',
    limit: 7,
  },
  'reasoning that its server separates': {
    model: thinks,
    body: { reasoning: { max_tokens: 20 }, max_tokens: 100 },
    before: [thought('Let'), thought(' me ')],
    after: [thought(' see'), text('One')],
    reasoning: 'Let me see',
    text: 'One',
    final: { role: 'assistant', content: '<think>\nLet me' },
  },
  'reasoning that was over': {
    model: thinks,
    before: [thought('Let me')],
    after: [text('One')],
    reasoning: 'Let me',
    text: 'One',
  },
  'reasoning between tags': {
    model: thinks,
    before: [text('<think>\nLet'), text(' me')],
    after: [text(' see'), text('\n</think>\n\nOne')],
    reasoning: 'Let me see',
    text: 'One',
    final: { role: 'assistant', content: '<think>\nLet me' },
  },
  'between tags, and at once their end': {
    model: thinks,
    before: [text('<think>\nLet me\n</th')],
    after: [text('\n</think>'), text('One')],
    reasoning: 'Let me',
    text: 'One',
  },
  'between a closing tag and text': {
    model: thinks,
    before: [text('<think>\nLet me\n</think>\n')],
    after: [text('\n</think>\n\nOne')],
    reasoning: 'Let me',
    text: 'One',
  },
  'text after reasoning, that a parser takes for reasoning': {
    model: thinks,
    before: [thought('Let me see'), text('One')],
    after: [thought(' two'), thought(' three')],
    reasoning: 'Let me see',
    text: 'One two three',
    final: { role: 'assistant', content: 'One', reasoning_content: 'Let me see' },
  },
  'text after tags': {
    model: thinks,
    before: [text('<think>\nHm\n</think>\n\nOne')],
    after: [text(' two')],
    reasoning: 'Hm',
    text: 'One two',
    final: { role: 'assistant', content: 'One', reasoning_content: 'Hm' },
  },
  'a message that the client began': {
    body: {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Zero' },
      ],
    },
    before: [text(' one')],
    after: [text(' two')],
    text: ' one two',
    final: { role: 'assistant', content: 'Zero one' },
  },
  'a tool call after the seam': {
    body: { tools: [{ type: 'function', function: { name: 'look' } }] },
    before: [text('One')],
    after: [delta({ tool_calls: [{ index: 0, id: 'call_1', function: { name: 'look', arguments: '{}' } }] })],
    text: 'One',
    finish: 'tool_calls',
  },
};

for (const [name, seam] of Object.entries(seams))
  t.test(name, async (t) => {
    const { before, after, body = {}, model = '', final, limit, finish = 'stop', reasoning = '' } = seam;
    const pool = await startPool(t, brokenThen(before, after), { model });
    const answer = await pool.stream(body);
    t.match(answer, { text: seam.text, reasoning, finish, last: { x_sluice_attempts: 2 } });
    t.equal(answer.error, undefined);
    const second = pool.calls[1] as { messages: object[]; max_tokens: number };
    if (final !== undefined) t.strictSame(second.messages.at(-1), final);
    if (limit !== undefined) t.equal(second.max_tokens, limit);
  });

t.test('fields of thinking in the second call', async (t) => {
  const model = `${thinks.replace(/}$/, ', wire: { enabled_field: chat_template_kwargs.enable_thinking, budget_field: thinking_token_budget } }')}`;
  const inside = await startPool(t, brokenThen([thought('Let'), thought(' me')], [text('One')]), { model });
  await inside.stream({ reasoning: { max_tokens: 20 } });
  t.match(inside.calls[0], { thinking_token_budget: 20 });
  t.match(inside.calls[1], { thinking_token_budget: 18, continue_final_message: true });
  const behind = await startPool(t, brokenThen([thought('Let'), text('One')], [text(' two')]), { model });
  await behind.stream({ reasoning: { max_tokens: 20 } });
  t.match(behind.calls[1], { chat_template_kwargs: { enable_thinking: false } });
  t.notOk('thinking_token_budget' in (behind.calls[1] ?? {}), 'it has thought');
});

t.test('a limit that is reached where the stream breaks off', async (t) => {
  const pool = await startPool(t, brokenThen([text('One'), text(' two')], [text(' three')]));
  const answer = await pool.stream({ max_tokens: 2 });
  t.match(answer, { text: 'One two', finish: 'length' });
  t.match(answer.last.usage, { completion_tokens: 2 });
  t.equal(pool.calls.length, 1, 'nobody is asked');
  t.match(pool.events, [{ outcome: 'completed' }]);
});

t.test('the other formats', async (t) => {
  const pool = await startPool(t, brokenThen([thought('Hm'), text('One')], [text(' two')]), {
    model: thinks,
  });
  const messages = await pool.stream(
    {
      max_tokens: 5000,
      messages: [{ role: 'user', content: 'Hi' }],
      thinking: { type: 'enabled', budget_tokens: 1024 },
    },
    '/messages',
  );
  const deltas = (events: typeof messages.events, field: string): string =>
    events.map(({ delta = {} }) => (delta as Record<string, string>)[field] ?? '').join('');
  t.equal(deltas(messages.events, 'text'), 'One two');
  t.equal(deltas(messages.events, 'thinking'), 'Hm');
  t.match(
    messages.events.filter(({ type }) => type === 'content_block_start'),
    [{ content_block: { type: 'thinking' } }, { content_block: { type: 'text' } }],
    'one block of each',
  );
  t.match(messages.events.at(-2), {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn' },
    usage: { input_tokens: 8, output_tokens: 3 },
    x_sluice_attempts: 2,
  });

  const second = await startPool(t, brokenThen([thought('Hm'), text('One')], [text(' two')]), {
    model: thinks,
  });
  const responses = await second.stream({ input: 'Hi' }, '/responses');
  t.match(responses.events.at(-1), {
    type: 'response.completed',
    response: {
      status: 'completed',
      output: [
        { type: 'reasoning' },
        { type: 'message', content: [{ type: 'output_text', text: 'One two' }] },
      ],
      usage: { input_tokens: 8, output_tokens: 3, output_tokens_details: { reasoning_tokens: 1 } },
    },
    x_sluice_attempts: 2,
  });

  const said = (words: string) => `data: {"choices":[{"index":0,"text":${JSON.stringify(words)}}]}\n\n`;
  const third = await startPool(t, brokenThen([said('One ')], [said('two')]));
  const completion = await third.stream({ prompt: 'Zero ', max_tokens: 9 }, '/completions');
  t.match(completion, { text: 'One two', finish: 'stop', last: { x_sluice_attempts: 2 } });
  t.strictSame(
    third.calls[1],
    { ...third.calls[0], prompt: 'Zero One ', max_tokens: 7 },
    'a prompt stays as it is',
  );
});

t.test('any answer, cut anywhere and sent in any pieces', async (t) => {
  const random = new Random(27);
  const alphabet = ['a', 'b', ' ', '\n', '🌊', 'é', '"', '\\'];
  for (let round = 0; round < 2000; round++) {
    const whole = Array.from({ length: random.integer(1, 24) }, () => random.pick(alphabet as [string])).join(
      '',
    );
    const cut = random.integer(0, whole.length);
    const delivered = whole.slice(0, cut);
    const sent = delivered.replace(/[\ud800-\udbff]$/, '').trimEnd();
    const stop = Array.from({ length: random.integer(0, 2) }, () =>
      Array.from({ length: random.integer(1, 3) }, () => random.pick(alphabet as [string])).join(''),
    );
    const seam = new SeamFilter({
      delivered: { text: delivered, reasoning: '' },
      unsent: { text: delivered.slice(sent.length), reasoning: '' },
      stop,
    });
    const passed: Parts[number][] = [];
    for (let at = sent.length; at < whole.length; ) {
      const end = Math.min(whole.length, at + random.integer(1, 4));
      passed.push(...seam.pass([{ type: 'text', choice: 0, text: toJsonText(whole.slice(at, end)) }]));
      at = end;
    }
    const finish = { type: 'finish', choice: 0, reason: 'stop', native: 'stop' } as const;
    passed.push(...seam.pass([finish]));
    const read =
      delivered + passed.map((part) => (part.type === 'text' ? JSON.parse(`"${part.text}"`) : '')).join('');
    // The first sequence that begins before the cut and ends behind it.
    const ends = stop.flatMap((sequence) =>
      Array.from({ length: sequence.length - 1 }, (_, index) => cut - index - 1)
        .filter((from) => from >= 0 && whole.startsWith(sequence, from))
        .map((from) => from + sequence.length),
    );
    const expected = ends.length === 0 ? whole : delivered;
    const finishes = passed.filter(({ type }) => type === 'finish').length;
    if (read !== expected || finishes !== 1) t.fail(JSON.stringify({ whole, cut, stop, read, expected }));
  }
  t.pass('2000 of them');
});
