/** Property tests: legal parts become events that add up to the message; others end in an error. */
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { concat, from, of, throwError } from 'rxjs';
import t from 'tap';
import { Compile } from 'typebox/compile';
import { Message, type OutputBlock } from '../../schemas/messages/response.ts';
import type { SigningKeyRecord } from '../../schemas/records.ts';
import { ApiError, fail } from '../../src/errors.ts';
import type { FinishReason, Part, Parts } from '../../src/ports/engines/chat.ts';
import { finish, streamHead, text, thought, toolArguments, toolCall, usage } from '../chat/fixtures.ts';
import { answerOf, ask, asking, type Harness, harness, keepingState, refusal, streamOf } from './fixtures.ts';
import { inputOf, readEvents } from './read-events.ts';

const isMessage = Compile(Message);
const quiet = { model: 'mock/thinker', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] };
const request = { ...quiet, thinking: { type: 'adaptive' } };

// ── sequences ──────────────────────────────────────────────────────────────────────────────────────

const words = fc.string({ unit: 'binary', maxLength: 12 });
const saying: fc.Arbitrary<Part> = fc.oneof(
  words.map((each) => text(each)),
  words.map(thought),
);
/** Arguments in pieces, and what a server lets slip in between. */
const argumentPieces = fc.array(fc.oneof({ weight: 3, arbitrary: words.map((each) => each) }, saying), {
  maxLength: 5,
});
const section = fc.oneof(
  fc.array(saying, { minLength: 1, maxLength: 4 }),
  fc.record({ name: fc.stringMatching(/^[a-z]{1,8}$/), pieces: argumentPieces }),
);
type Section = Part[] | { name: string; pieces: (string | Part)[] };

const answerParts = (sections: readonly Section[], reason: FinishReason): Part[] => {
  const parts: Part[] = [];
  let calls = 0;
  for (const section of sections) {
    if (Array.isArray(section)) {
      parts.push(...section);
      continue;
    }
    const call = calls++;
    parts.push(toolCall(call, section.name));
    for (const piece of section.pieces)
      parts.push(typeof piece === 'string' ? toolArguments(call, piece) : piece);
  }
  parts.push({ type: 'finish', choice: 0, reason, native: reason });
  return parts;
};

const legal: fc.Arbitrary<Part[]> = fc
  .tuple(
    fc.array(section, { maxLength: 5 }),
    fc.constantFrom<FinishReason>('stop', 'length', 'tool_calls', 'content_filter'),
  )
  .map(([sections, reason]) => answerParts(sections, reason));

/** As they might arrive: some together, some alone. */
const dealt = (parts: readonly Part[], cuts: readonly number[]): Parts[] => {
  const left = [...parts];
  const arrays: Parts[] = [];
  for (const size of cuts) if (left.length > 0) arrays.push(left.splice(0, size));
  if (left.length > 0) arrays.push(left);
  return arrays;
};
const cutting = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 30 });

const said = (parts: readonly Part[], type: 'text' | 'reasoning'): string =>
  parts.flatMap((part) => (part.type === type ? [JSON.parse(`"${part.text}"`)] : [])).join('');
const calledIn = (parts: readonly Part[]) =>
  parts.flatMap((part) =>
    part.type !== 'tool-call'
      ? []
      : [
          {
            id: part.id.replace('call_', 'toolu_'),
            name: part.name,
            input: inputOf(
              parts
                .flatMap((each) =>
                  each.type === 'tool-arguments' && each.call === part.call
                    ? [JSON.parse(`"${each.text}"`)]
                    : [],
                )
                .join(''),
            ),
          },
        ],
  );
/** Whole answers leave it out. */
const withoutCitations = (block: OutputBlock): OutputBlock =>
  block.type === 'text' ? { type: block.type, text: block.text } : block;
const textOf = (blocks: readonly OutputBlock[]) =>
  blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
const thoughtOf = (blocks: readonly OutputBlock[]) =>
  blocks.flatMap((block) => (block.type === 'thinking' ? [block.thinking] : [])).join('');
const callsOf = (blocks: readonly OutputBlock[]) =>
  blocks.flatMap((block) =>
    block.type === 'tool_use' ? [{ id: block.id, name: block.name, input: block.input }] : [],
  );

// ── properties ─────────────────────────────────────────────────────────────────────────────────────

const adaptive = { type: 'adaptive' };
const visibility = fc.constantFrom(adaptive, { ...adaptive, display: 'omitted' }, undefined);

t.test('events add up to the whole message, and to the engine output', async (t) => {
  // One key for both, so that signatures agree.
  const state = { ...harness().ports.state, ...keepingState() };
  await fc.assert(
    fc.asyncProperty(legal, cutting, visibility, async (parts, cuts, thinking) => {
      const arrays = [...dealt(parts, cuts), [usage(7, 5, 1, 2)]];
      const body = { ...quiet, thinking };
      const replies = await ask({ ...body, stream: true }, harness(from(arrays), { state }));
      if (replies.length > arrays.length + 1) throw new Error('more than one write per arrival');
      const { message, error } = readEvents(streamOf(replies));
      t.equal(error, undefined);
      const whole: unknown = answerOf(await ask(body, harness(from(arrays), { state })));
      if (!isMessage.Check(whole)) throw new Error(JSON.stringify(isMessage.Errors(whole)));
      t.strictSame(message && { ...message, content: message.content.map(withoutCitations) }, whole);
      t.equal(textOf(whole.content), said(parts, 'text'));
      t.equal(thoughtOf(whole.content), thinking === adaptive ? said(parts, 'reasoning') : '');
      if (thinking === undefined) t.notOk(whole.content.some((block) => block.type === 'thinking'));
      t.strictSame(callsOf(whole.content), calledIn(parts));
    }),
    { numRuns: 150, seed: 11 },
  );
});

t.test('a failure at any point ends in an error and message_stop', async (t) => {
  const error = fail('timeout', 'The model "took"\ntoo long');
  await fc.assert(
    fc.asyncProperty(legal, cutting, fc.nat(12), fc.boolean(), async (parts, cuts, end, thrown) => {
      const before = dealt(parts.slice(0, end), cuts);
      const failure: Parts = [{ type: 'failure', error }];
      const answer = thrown
        ? concat(
            from(before),
            throwError(() => error),
          )
        : from([...before, failure]);
      const at = harness(answer);
      if (before.length === 0) {
        await t.rejects(ask({ ...request, stream: true }, at), error);
        return;
      }
      const read = readEvents(streamOf(await ask({ ...request, stream: true }, at)));
      t.equal(read.error, 'The model "took"\ntoo long');
      t.ok(said(parts, 'text').startsWith(textOf(read.blocks)));
      t.match(at.events, [{ outcome: 'failed', status: 504, cost: '0' }]);
      await t.rejects(ask(request, harness(answer)), error);
    }),
    { numRuns: 80, seed: 12 },
  );
});

t.test('whatever an engine does, the response is legal', async (t) => {
  const any: fc.Arbitrary<Part> = fc.oneof(
    saying,
    fc.record({ call: fc.nat(2) }).map(({ call }) => toolCall(call)),
    fc.tuple(fc.nat(2), words).map(([call, each]) => toolArguments(call, each)),
    fc.constantFrom<Part>(finish(), finish('length'), text('other', 1), usage(1, 1), {
      type: 'failure',
      error: fail('unavailable', 'busy'),
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(any, { maxLength: 12 }), cutting, async (parts, cuts) => {
      const at = harness(from(dealt(parts, cuts)));
      try {
        readEvents(streamOf(await ask({ ...request, stream: true }, at)));
      } catch (error) {
        if (!(error instanceof ApiError) || error.status < 500) throw error;
      }
      t.equal(at.events.length, 1, 'one usage event');
      t.equal(at.leases[0]?.released, 1);
    }),
    { numRuns: 300, seed: 13 },
  );
});

// ── examples ───────────────────────────────────────────────────────────────────────────────────────

/** What an engine's answer to a stream request becomes, and what the usage event says. */
const framed = async (...arrays: Parts[]) => {
  const at: Harness = harness(from(arrays));
  const stream = streamOf(await ask({ ...request, stop_sequences: ['END'], stream: true }, at));
  return { stream, ...readEvents(stream), event: at.events[0] };
};

t.test('invalid orders of parts', async (t) => {
  const senseless = 'The engine sent its answer in an order that makes no sense';
  const rows: readonly (readonly [name: string, error: string, parts: readonly Part[]])[] = [
    ['arguments of no call', senseless, [text('a'), toolArguments(0, '{}')]],
    ['arguments of an earlier call', senseless, [toolCall(0), toolCall(1), toolArguments(0, '{}')]],
    ['calls that are numbered wrongly', senseless, [text('a'), toolCall(1)]],
    ['a call that comes twice', senseless, [toolCall(0), toolCall(0)]],
    ['text after the end', senseless, [text('a'), finish(), text('b')]],
    ['a second end', senseless, [text('a'), finish(), finish()]],
    ['an answer that nobody asked for', senseless, [text('a'), text('b', 1)]],
    [
      'a call inside more text than can wait',
      senseless,
      [toolCall(0), text('x'.repeat(70_000)), toolArguments(0, '{}')],
    ],
    ['an end that never comes', 'The model ended its answer early', [text('a')]],
  ];
  for (const [name, error, parts] of rows) {
    t.test(name, async (t) => {
      const read = await framed(...parts.map((part): Parts => [part]));
      t.equal(read.error, error);
      t.match(read.event, { outcome: 'failed', status: 502, cost: '0' });
    });
  }
});

t.test('text inside a tool call comes after it', async (t) => {
  const { message } = await framed(
    [toolCall(0), toolArguments(0, '{"a"'), text('\n')],
    [thought('Hm'), toolArguments(0, ':1}'), text('\n')],
    [toolCall(1, 'hear'), text('So')],
    [finish('tool_calls'), usage(1, 1)],
  );
  t.match(message?.content, [
    { type: 'tool_use', id: 'toolu_0', name: 'look', input: { a: 1 } },
    { type: 'text', text: '\n' },
    { type: 'thinking', thinking: 'Hm' },
    { type: 'text', text: '\n' },
    { type: 'tool_use', id: 'toolu_1', name: 'hear', input: {} },
    { type: 'text', text: 'So' },
  ]);
});

t.test('stop reasons', async (t) => {
  const ends: readonly (readonly [finish: Parts, stop_reason: string, stop_sequence: string | null])[] = [
    [[finish()], 'end_turn', null],
    [[finish('length')], 'max_tokens', null],
    [[finish('tool_calls')], 'tool_use', null],
    [[{ type: 'finish', choice: 0, reason: 'content_filter', native: 'safety' }], 'refusal', null],
    [[{ ...finish(), stopSequence: 'END' }], 'stop_sequence', 'END'],
    [[{ ...finish(), stopSequence: '<|im_end|>' }], 'end_turn', null],
    [[], 'end_turn', null],
  ];
  for (const [last, stop_reason, stop_sequence] of ends) {
    const { message } = await framed([text('a'), ...last, usage(1, 1)]);
    t.match(message, { stop_reason, stop_sequence });
  }
});

t.test('usage: prompt tokens without cached ones', async (t) => {
  const { message } = await framed([text('a'), finish(), usage(100, 20, 60, 5)]);
  t.strictSame(message?.usage, {
    input_tokens: 40,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 60,
    cache_creation: null,
    output_tokens: 20,
    output_tokens_details: { thinking_tokens: 5 },
    server_tool_use: null,
    service_tier: 'standard',
    inference_geo: null,
    speed: null,
  });
});

t.test('visible reasoning', async (t) => {
  const answer = of<Parts>([thought('Hm'), text('a'), finish(), usage(1, 1)]);
  for (const [thinking, shown] of [
    [{ type: 'adaptive' }, 'Hm'],
    [{ type: 'adaptive', display: 'summarized' }, 'Hm'],
    [{ type: 'adaptive', display: 'omitted' }, ''],
  ] as const) {
    const { content } = answerOf(await ask({ ...request, thinking }, harness(answer)));
    t.match(
      content,
      [
        { type: 'thinking', thinking: shown, signature: /^[\w+/]{43}=$/ },
        { type: 'text', text: 'a' },
      ],
      JSON.stringify(thinking),
    );
    t.equal(content.length, 2);
  }
});

t.test('reasoning that nobody asked for is counted, not shown', async (t) => {
  const parts: Parts[] = [
    [thought('Hm')],
    [thought('so'), text('a')],
    [thought('or not')],
    [text('b'), toolCall(0), toolArguments(0, '{}'), finish('tool_calls')],
  ];
  for (const body of [quiet, { ...quiet, thinking: { type: 'disabled' } }]) {
    const at = harness(from(parts));
    const whole = answerOf(await ask(body, at));
    t.strictSame(whole.content, [
      { type: 'text', text: 'ab' },
      { type: 'tool_use', id: 'toolu_0', name: 'look', input: {} },
    ]);
    // Nothing was reported by the engine: one token for each part.
    t.match(whole.usage, { output_tokens: 6, output_tokens_details: { thinking_tokens: 3 } });
    t.match(at.events, [{ quantities: { completion_tokens: 6, reasoning_tokens: 3 } }], 'and billed');
    const replies = await ask({ ...body, stream: true }, harness(from(parts)));
    const [, start, ...rest] = replies;
    t.match(
      start,
      { bytes: /^event: message_start\n[^\n]*\n\n$/ },
      'the stream begins while the model thinks',
    );
    t.equal(rest.length, 3);
    const { message } = readEvents(streamOf(replies));
    t.strictSame(message && { ...message, content: message.content.map(withoutCitations) }, whole);
  }
});

t.test('no output is an empty message', async (t) => {
  const { message } = await framed([finish('length'), usage(3, 0)]);
  t.match(message, { content: [], stop_reason: 'max_tokens', usage: { output_tokens: 0 } });
  t.equal(message?.content.length, 0);
});

t.test('arguments that are not a JSON object', async (t) => {
  const rows: readonly (readonly [pieces: string[], input: object])[] = [
    [[], {}],
    [['  '], {}],
    [['{"a":', '1}'], { a: 1 }],
    [['{"a":'], { INVALID_JSON: '{"a":' }],
    [['[1]'], { INVALID_JSON: '[1]' }],
    [['null'], { INVALID_JSON: 'null' }],
    [['say "hi"\n'], { INVALID_JSON: 'say "hi"\n' }],
  ];
  for (const [pieces, input] of rows) {
    const parts: Parts = [
      toolCall(0),
      ...pieces.map((piece) => toolArguments(0, piece)),
      finish('tool_calls'),
      usage(1, 1),
    ];
    const { content } = answerOf(await ask(request, harness(of(parts))));
    t.strictSame(content, [{ type: 'tool_use', id: 'toolu_0', name: 'look', input }]);
  }
});

t.test('reasoning is signed with the key of this installation, streamed or whole', async (t) => {
  const state = { ...harness().ports.state, ...keepingState() };
  const parts = ['I "think" ', '😀 ', 'x'.repeat(5000), '\ud83d', '\ude00'].map(thought);
  const answer = from([...parts.map((part): Parts => [part]), [text('a'), finish(), usage(1, 1)]]);
  const { message } = readEvents(
    streamOf(await ask({ ...request, stream: true }, harness(answer, { state }))),
  );
  const key = (await state.get<SigningKeyRecord>('signing-key', 'thoughts'))?.value.key ?? '';
  t.equal(Buffer.from(key, 'base64').length, 32);
  const signature = createHmac('sha256', Buffer.from(key, 'base64'))
    .update(Buffer.from(`I "think" 😀 ${'x'.repeat(5000)}😀`, 'utf16le'))
    .digest('base64');
  t.match(message?.content[0], { type: 'thinking', signature });
  const again = answerOf(await ask(request, harness(answer, { state })));
  t.match(again.content[0], { signature }, 'another replica on the same store signs the same');
  const elsewhere = answerOf(await ask(request, harness(answer)));
  t.not(elsewhere.content[0]?.type === 'thinking' && elsewhere.content[0].signature, signature);
});

t.test('an unavailable store', async (t) => {
  const kept = keepingState();
  let away = true;
  const state = {
    ...harness().ports.state,
    ...kept,
    get: <T>(kind: string, id: string) =>
      away ? Promise.reject(fail('unavailable', 'The store is away')) : kept.get<T>(kind, id),
  };
  const again = asking(harness(undefined, { state }));
  t.equal(await refusal(again(request)), '503 The store is away');
  away = false;
  t.match(answerOf(await again(request)), { stop_reason: 'end_turn' }, 'is asked again by the next request');
});

t.test('the layout of a stream, byte by byte', async (t) => {
  const replies = await ask(
    { ...request, stream: true },
    harness(
      from<Parts[]>([
        [text('Hel"lo')],
        [toolCall(0)],
        [toolArguments(0, '{"a":1}'), finish('tool_calls')],
        [usage(5, 2)],
      ]),
    ),
  );
  const counts = (input: number, output: number) =>
    `"input_tokens":${input},"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":${output},"output_tokens_details":{"thinking_tokens":0},"server_tool_use":null`;
  const event = (data: string) => `event: ${/"type":"(\w+)"/.exec(data)?.[1]}\ndata: ${data}\n\n`;
  const bytes = (...datas: string[]) => ({ kind: 'bytes', bytes: datas.map(event).join('') });
  t.strictSame(replies, [
    streamHead('event: ping\ndata: {"type":"ping"}\n\n'),
    bytes(
      `{"type":"message_start","message":{"id":"msg_0123","type":"message","role":"assistant","model":"mock/thinker","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"container":null,"diagnostics":null,"usage":{${counts(8, 0)},"cache_creation":null,"service_tier":"standard","inference_geo":null,"speed":null}}}`,
      '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":null}}',
      '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel\\"lo"}}',
    ),
    bytes(
      '{"type":"content_block_stop","index":0}',
      '{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_0","name":"look","input":{}}}',
    ),
    bytes(
      '{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\\"a\\":1}"}}',
      '{"type":"content_block_stop","index":1}',
    ),
    {
      ...bytes(
        `{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null,"stop_details":null,"container":null},"usage":{${counts(5, 2)}}}`,
        '{"type":"message_stop"}',
      ),
      last: true,
    },
  ]);
});
