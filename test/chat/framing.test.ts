/** Property tests: any legal sequence of parts becomes chunks that add up to the whole response. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { lastValueFrom, type Observer, toArray } from 'rxjs';
import t from 'tap';
import { Compile } from 'typebox/compile';
import type { Completion } from '../../pipelines/chat/completion-json.ts';
import { ChatWhole } from '../../pipelines/chat/frame.ts';
import { ChatChunks } from '../../pipelines/chat/frame-stream.ts';
import { StreamFrame } from '../../pipelines/conversation/frame-stream.ts';
import { eventStreamHead } from '../../pipelines/core/frame.ts';
import { ChatChunk, ChatCompletion } from '../../schemas/chat/response.ts';
import { errorBody, fail } from '../../src/errors.ts';
import {
  type FinishReason,
  type Logprob,
  type Part,
  type Parts,
  toJsonText,
} from '../../src/ports/engines/chat.ts';
import type { Reply } from '../../src/ports/exchange.ts';
import { finish, framing, settled, streamHead, text, usage } from './fixtures.ts';

const isChunk = Compile(ChatChunk);
const isCompletion = Compile(ChatCompletion);

const completion = (change: Partial<Completion> = {}): Completion => ({
  id: 'chatcmpl-1',
  created: 1,
  model: 'mock/"chat"',
  provider: '"The \\"operator\\""',
  choices: 1,
  logprobs: false,
  includeUsage: false,
  ...change,
});

const framed = (parts: readonly Parts[], form: Completion): Promise<Reply[]> =>
  lastValueFrom(
    settled(parts).pipe(
      framing((next: Observer<Reply>) => new StreamFrame(next, eventStreamHead, new ChatChunks(form))),
      toArray(),
    ),
  );

const wholeOf = (parts: readonly Parts[], form: Completion): Promise<Reply> =>
  lastValueFrom(settled(parts).pipe(framing((next: Observer<Reply>) => new ChatWhole(next, form))));

/** The events of a stream, `[DONE]` included, read as strictly as a client may. */
const events = (replies: readonly Reply[]): string[] => {
  const [head, ...rest] = replies;
  assert.equal(head?.kind, 'head');
  const body = rest.map((reply) => (reply.kind === 'bytes' ? String(reply.bytes) : '')).join('');
  assert.ok(body.endsWith('\n\n'), 'the last block is closed');
  return body
    .slice(0, -2)
    .split('\n\n')
    .map((block) => {
      if (!block.startsWith('data: ') || block.includes('\n')) throw new Error(`not one data line: ${block}`);
      return block.slice('data: '.length);
    });
};

const chunksOf = (replies: readonly Reply[]): ChatChunk[] => {
  const all = events(replies);
  assert.equal(all.pop(), '[DONE]');
  return all.map((data) => {
    const chunk: unknown = JSON.parse(data);
    if (!isChunk.Check(chunk)) throw new Error(`${JSON.stringify(isChunk.Errors(chunk))} in ${data}`);
    return chunk;
  });
};

/** What a client's own accumulator makes of the chunks. */
const rebuilt = (chunks: readonly ChatChunk[], form: Completion) => {
  const choices = Array.from({ length: form.choices }, (_, index) => ({
    index,
    message: {
      role: 'assistant' as const,
      content: '' as string | null,
      reasoning: null as string | null,
      refusal: null,
      tool_calls: [] as { id: string; type: 'function'; function: { name: string; arguments: string } }[],
    },
    logprobs: form.logprobs ? { content: [] as unknown[] } : null,
    finish_reason: undefined as string | undefined,
    native_finish_reason: undefined as string | null | undefined,
  }));
  let role = 0;
  let total: unknown;
  for (const chunk of chunks) {
    if (chunk.id !== form.id || chunk.model !== form.model || chunk.created !== form.created)
      throw new Error('changed');
    if (chunk.provider !== JSON.parse(form.provider)) throw new Error('changed');
    if (total !== undefined) throw new Error('a chunk after usage');
    total = chunk.usage;
    if (chunk.choices.length === 0 && chunk.usage === undefined) throw new Error('an empty chunk');
    for (const { index, delta, finish_reason, native_finish_reason, logprobs } of chunk.choices) {
      const choice = choices[index];
      if (choice === undefined || choice.finish_reason !== undefined)
        throw new Error(`chunk for answer ${index}`);
      if (delta.role !== undefined) role++;
      if (role < form.choices && delta.role === undefined) throw new Error('no role before the text');
      choice.message.content += delta.content ?? '';
      if (delta.reasoning !== undefined)
        choice.message.reasoning = (choice.message.reasoning ?? '') + delta.reasoning;
      choice.logprobs?.content.push(...(logprobs?.content ?? []));
      for (const {
        index: at,
        id,
        type,
        function: { name, arguments: text },
      } of delta.tool_calls ?? []) {
        const calls = choice.message.tool_calls;
        if (id !== undefined && type !== undefined && name !== undefined) {
          if (at !== calls.length || text !== '') throw new Error('a call out of order');
          calls.push({ id, type, function: { name, arguments: '' } });
        } else {
          const call = calls[at];
          if (call === undefined || at !== calls.length - 1) throw new Error('arguments of no call');
          call.function.arguments += text;
        }
      }
      if (finish_reason !== null) {
        choice.finish_reason = finish_reason;
        choice.native_finish_reason = native_finish_reason;
      }
    }
  }
  if (role !== form.choices) throw new Error('not one role per answer');
  return {
    id: form.id,
    object: 'chat.completion',
    created: form.created,
    model: form.model,
    system_fingerprint: null,
    provider: JSON.parse(form.provider) as string,
    choices: choices.map(({ message: { tool_calls, content, ...message }, ...choice }) => ({
      ...choice,
      message: {
        ...message,
        content: content === '' && tool_calls.length > 0 ? null : content,
        ...(tool_calls.length > 0 && { tool_calls }),
      },
    })),
    usage: total,
  };
};

// ── sequences ──────────────────────────────────────────────────────────────────────────────────────

const words = fc.string({ unit: 'binary', maxLength: 12, size: 'small' });
const logprob: fc.Arbitrary<Logprob> = fc.record({
  token: words,
  logprob: fc.double({ min: -20, max: 0, noNaN: true }),
  bytes: fc.option(fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 3 })),
  top_logprobs: fc.constant([]),
});

/** The parts of one answer in order, without their end. */
const answerParts = (choice: number): fc.Arbitrary<Part[]> =>
  fc
    .tuple(
      fc.array(words, { maxLength: 3 }),
      fc.array(fc.record({ words, logprobs: fc.option(fc.array(logprob, { minLength: 1, maxLength: 2 })) }), {
        maxLength: 4,
      }),
      fc.array(
        fc.record({ name: fc.stringMatching(/^[a-z]{1,8}$/), pieces: fc.array(words, { maxLength: 3 }) }),
        {
          maxLength: 3,
        },
      ),
      fc.constantFrom<FinishReason>('stop', 'length', 'tool_calls', 'content_filter'),
      fc.option(words),
    )
    .map(([thoughts, texts, calls, reason, native]): Part[] => [
      ...thoughts.map((each): Part => ({ type: 'reasoning', choice, text: toJsonText(each) })),
      ...texts.map(
        ({ words, logprobs }): Part => ({
          type: 'text',
          choice,
          text: toJsonText(words),
          ...(logprobs !== null && { logprobs }),
        }),
      ),
      ...calls.flatMap(({ name, pieces }, call): Part[] => [
        { type: 'tool-call', choice, call, id: `call_${choice}${call}`, name },
        ...pieces.map((piece): Part => ({ type: 'tool-arguments', choice, call, text: toJsonText(piece) })),
      ]),
      { type: 'finish', choice, reason, native },
    ]);

/** Made once: arbitraries are dear to make. */
const answers = [0, 1, 2].map(answerParts);

/** n answers dealt into one sequence, cut into arrays as they might arrive, ended by usage. */
const sequence: fc.Arbitrary<{ parts: Parts[]; choices: number }> = fc
  .integer({ min: 1, max: 3 })
  .chain((choices) =>
    fc.record({
      answers: fc.tuple(...answers.slice(0, choices)),
      deal: fc.array(fc.nat(choices - 1), { maxLength: 60 }),
      cuts: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 40 }),
    }),
  )
  .map(({ answers, deal, cuts }) => {
    const left = answers.map((parts) => [...parts]);
    const order: Part[] = deal.flatMap((choice) => left[choice]?.shift() ?? []);
    order.push(...left.flat());
    const parts: Parts[] = [];
    for (const size of cuts) if (order.length > 0) parts.push(order.splice(0, size));
    if (order.length > 0) parts.push(order);
    parts.push([usage(7, 5, 1, 2)]);
    return { parts, choices: answers.length };
  });

t.test('chunks add up to the whole response', async () => {
  await fc.assert(
    fc.asyncProperty(
      sequence,
      fc.boolean(),
      fc.boolean(),
      async ({ parts, choices }, logprobs, includeUsage) => {
        const form = completion({ choices, logprobs, includeUsage });
        const replies = await framed(parts, form);
        if (replies.length > parts.length + 1) throw new Error('more than one write per arrival');
        const chunks = chunksOf(replies);
        const whole = await wholeOf(parts, form);
        const answer: unknown = whole.kind === 'whole' && JSON.parse(String(whole.body));
        if (!isCompletion.Check(answer)) throw new Error(JSON.stringify(isCompletion.Errors(answer)));
        assert.deepEqual(rebuilt(chunks, form), answer);
        const last = chunks.at(-1);
        assert.equal(last?.choices.length, includeUsage ? 0 : 1, 'usage on the last finish, or alone');
      },
    ),
    { numRuns: 150, seed: 7 },
  );
});

t.test('text received as bytes is written as bytes and reads the same', async (t) => {
  const said = (choice: number, words: string): Part => ({ ...text(words), choice });
  const asBytes = (part: Part): Part =>
    part.type === 'text' ? { ...part, bytes: Buffer.from(part.text) } : part;
  const bodyOf = async (parts: Parts, choices: number) => {
    const whole = await wholeOf([parts], completion({ choices }));
    return whole.kind === 'whole' ? whole.body : undefined;
  };
  const answers: readonly (readonly [choices: number, pieces: number, parts: Parts])[] = [
    [1, 3, [said(0, 'naïve 水'), finish(), usage(1, 2)]],
    [2, 5, [said(0, 'naïve'), said(1, '水'), finish(), usage(1, 2)]],
    [2, 3, [said(1, '水'), finish(), usage(1, 2)]],
    [1, 0, [said(0, 'naïve'), said(0, ' 水'), finish(), usage(1, 2)]],
  ];
  for (const [choices, pieces, parts] of answers) {
    const body = await bodyOf(parts.map(asBytes), choices);
    t.equal([body].flat().join(''), await bodyOf(parts, choices));
    t.equal(Array.isArray(body) ? body.length : 0, pieces);
  }
});

t.test('a failure ends every open answer, whatever came before', async () => {
  const error = fail('engine_unreachable', 'The model "broke"\n');
  await fc.assert(
    fc.asyncProperty(sequence, fc.nat(30), async ({ parts, choices }, cut) => {
      const before = parts.slice(0, -1).flat().slice(0, cut);
      const form = completion({ choices });
      const failing = framed([...before.map((part) => [part]), [{ type: 'failure', error }]], form);
      await assert.rejects(wholeOf([before, [{ type: 'failure', error }]], form), error);
      if (before.length === 0) {
        await assert.rejects(failing, error, 'before the first part it is the HTTP error');
        return;
      }
      const chunks = chunksOf(await failing);
      const last = chunks.pop();
      assert.deepEqual(last?.error, errorBody(error));
      const ended = new Set(
        chunks.flatMap((chunk) =>
          chunk.choices.filter((each) => each.finish_reason !== null).map((each) => each.index),
        ),
      );
      const open = last?.choices.map((choice) => choice.index) ?? [];
      assert.deepEqual(
        [...ended, ...open].sort(),
        Array.from({ length: choices }, (_, index) => index),
        'each answer ends once',
      );
      assert.ok(open.length > 0 && last?.choices.every((choice) => choice.finish_reason === 'error'));
    }),
    { numRuns: 60, seed: 8 },
  );
});

t.test('the layout of a stream, byte by byte', async (t) => {
  const start =
    'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"mock/\\"chat\\"","provider":"The \\"operator\\"","choices":[';
  const goesOn = ',"finish_reason":null,"native_finish_reason":null,"logprobs":null}]}\n\n';
  const counts =
    '"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}';
  const parts: Parts[] = [
    [{ type: 'reasoning', choice: 0, text: toJsonText('Hm') }, text('Hel"lo')],
    [{ type: 'tool-call', choice: 0, call: 0, id: 'call_1', name: 'look' }],
    [{ type: 'tool-arguments', choice: 0, call: 0, text: toJsonText('{"a":1}') }, finish('tool_calls')],
    [usage(5, 2)],
  ];
  const head = streamHead();
  const body = [
    `${start}{"index":0,"delta":{"role":"assistant","content":""}${goesOn}` +
      `${start}{"index":0,"delta":{"reasoning":"Hm"}${goesOn}` +
      `${start}{"index":0,"delta":{"content":"Hel\\"lo"}${goesOn}`,
    `${start}{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"look","arguments":""}}]}${goesOn}`,
    `${start}{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\\"a\\":1}"}}]}${goesOn}`,
  ];
  const finished = `${start}{"index":0,"delta":{},"finish_reason":"tool_calls","native_finish_reason":"tool_calls","logprobs":null}]`;
  const bytes = (texts: string[]) =>
    texts.map((each, index) => ({
      kind: 'bytes',
      bytes: each,
      ...(index === texts.length - 1 && { last: true }),
    }));
  t.strictSame(await framed(parts, completion()), [
    head,
    ...bytes([...body, `${finished},${counts}}\n\ndata: [DONE]\n\n`]),
  ]);
  t.strictSame(await framed(parts, completion({ includeUsage: true })), [
    head,
    ...bytes([...body, `${finished}}\n\n${start}],${counts}}\n\ndata: [DONE]\n\n`]),
  ]);
  const failure: Parts = [{ type: 'failure', error: fail('timeout', 'Too slow') }];
  t.strictSame((await framed([[text('a')], failure], completion())).slice(2), [
    {
      kind: 'bytes',
      bytes: `${start}{"index":0,"delta":{"content":""},"finish_reason":"error","native_finish_reason":"error"}],"error":{"code":504,"message":"Too slow","type":"timeout_error","param":null,"metadata":{"error_type":"timeout"}}}\n\ndata: [DONE]\n\n`,
      last: true,
    },
  ]);
});

t.test('an engine without a finish reason still gives a whole response', async (t) => {
  const chunks = chunksOf(await framed([[text('a')], [usage(1, 1)]], completion({ choices: 2 })));
  t.same(
    chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.finish_reason)),
    [null, null, null, 'stop', 'stop'],
  );
  t.equal(chunks.at(-1)?.usage?.total_tokens, 2);
  await t.resolves(wholeOf([[usage(1, 1)]], completion()));
});
