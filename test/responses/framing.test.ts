/** Property tests: legal parts become events that add up to the response; others end in an error. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  concat,
  from,
  lastValueFrom,
  NEVER,
  type Observable,
  type Observer,
  of,
  throwError,
  toArray,
} from 'rxjs';
import t from 'tap';
import { StreamFrame } from '../../pipelines/conversation/frame-stream.ts';
import { eventStreamHead } from '../../pipelines/core/frame.ts';
import { responsesEcho } from '../../pipelines/responses/echo.ts';
import { ResponsesWhole } from '../../pipelines/responses/frame.ts';
import { ResponseEvents } from '../../pipelines/responses/frame-stream.ts';
import { responseForm } from '../../pipelines/responses/response-json.ts';
import { responses } from '../../pipelines/responses/responses.ts';
import type { OutputItem, Response } from '../../schemas/responses/response.ts';
import { ApiError, errorBody, fail } from '../../src/errors.ts';
import type { FinishReason, Logprob, Part, Parts } from '../../src/ports/engines/chat.ts';
import type { Reply } from '../../src/ports/exchange.ts';
import {
  exchange,
  finish,
  framing,
  harness,
  run,
  settled,
  streamHead,
  text,
  thought,
  toolArguments,
  toolCall,
  usage,
} from '../chat/fixtures.ts';
import { answerOf, ask, refusal, streamOf } from './fixtures.ts';
import { checkResponse, readEvents } from './read-events.ts';

const form = (logprobs = true) =>
  responseForm({
    key: 'abc',
    model: 'mock/"chat"',
    echo: responsesEcho({ input: 'Hi' }, { type: 'text' }),
    logprobs,
    called: undefined,
  });

const framed = (parts: readonly Parts[], logprobs?: boolean): Promise<Reply[]> =>
  lastValueFrom(
    settled(parts).pipe(
      framing(
        (next: Observer<Reply>) => new StreamFrame(next, eventStreamHead, new ResponseEvents(form(logprobs))),
      ),
      toArray(),
    ),
  );

const whole = async (parts: readonly Parts[], logprobs?: boolean): Promise<Response> =>
  checkResponse(
    answerOf([
      await lastValueFrom(
        settled(parts).pipe(framing((next: Observer<Reply>) => new ResponsesWhole(next, form(logprobs)))),
      ),
    ]),
  );

// ── sequences ──────────────────────────────────────────────────────────────────────────────────────

const words = fc.string({ unit: 'binary', maxLength: 12, size: 'small' });
const bytes = fc.option(fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 3 }));
const chance = { token: words, logprob: fc.double({ min: -20, max: 0, noNaN: true }), bytes };
const logprob: fc.Arbitrary<Logprob> = fc.record({
  ...chance,
  top_logprobs: fc.array(fc.record(chance), { maxLength: 2 }),
});

const saying: fc.Arbitrary<Part> = fc.oneof(
  words.map((each) => text(each)),
  words.map(thought),
  fc
    .record({ words, logprobs: fc.array(logprob, { minLength: 1, maxLength: 2 }) })
    .map(({ words, logprobs }): Part => ({ ...text(words), logprobs })),
);
const calling = fc.record({
  name: fc.stringMatching(/^[a-z]{1,8}$/),
  pieces: fc.array(words, { maxLength: 4 }),
});
type Calling = { name: string; pieces: string[] };

const reasons = fc.constantFrom<FinishReason>('stop', 'length', 'tool_calls', 'content_filter');

const answerParts = (sections: readonly (Part | Calling)[], reason: FinishReason): Part[] => {
  let calls = 0;
  const parts = sections.flatMap((section): Part[] => {
    if ('type' in section) return [section];
    const call = calls++;
    return [toolCall(call, section.name), ...section.pieces.map((piece) => toolArguments(call, piece))];
  });
  return [...parts, { type: 'finish', choice: 0, reason, native: null }];
};

/** Text, thoughts and calls in any order, cut into arrays as they might arrive, ended by usage. */
const sequence: fc.Arbitrary<Parts[]> = fc
  .record({
    sections: fc.array(fc.oneof({ weight: 3, arbitrary: saying }, calling), { maxLength: 10 }),
    reason: reasons,
    cuts: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 20 }),
  })
  .map(({ sections, reason, cuts }) => {
    const order = answerParts(sections, reason);
    const parts: Parts[] = [];
    for (const size of cuts) if (order.length > 0) parts.push(order.splice(0, size));
    if (order.length > 0) parts.push(order);
    parts.push([usage(7, 5, 1, 2)]);
    return parts;
  });

/** What the parts say, run together where one goes on with the other. */
const saidIn = (parts: readonly Part[]): string[][] => {
  const said: string[][] = [];
  for (const part of parts) {
    const last = said.at(-1);
    if (part.type === 'tool-call') said.push(['function_call', part.id, part.name, '']);
    if (part.type !== 'text' && part.type !== 'reasoning' && part.type !== 'tool-arguments') continue;
    const words = JSON.parse(`"${part.text}"`);
    if (words === '') continue;
    const type = { text: 'message', reasoning: 'reasoning', 'tool-arguments': 'function_call' }[part.type];
    if (last?.[0] === type) last.push((last.pop() ?? '') + words);
    else said.push([type, words]);
  }
  return said;
};

const saidBy = (output: readonly OutputItem[]): string[][] =>
  output.map((item) =>
    item.type === 'function_call'
      ? [item.type, item.call_id, item.name, item.arguments]
      : [item.type, 'content' in item ? item.content.map((part) => part.text).join('') : item.input],
  );

t.test('events add up to the whole response, and both to the parts', async () => {
  await fc.assert(
    fc.asyncProperty(sequence, fc.boolean(), async (parts, logprobs) => {
      const replies = await framed(parts, logprobs);
      if (replies.length > parts.length + 1) throw new Error('more than one write per arrival');
      const { response, error } = readEvents(streamOf(replies));
      assert.equal(error, undefined);
      const answer = await whole(parts, logprobs);
      const { created_at, completed_at } = answer;
      assert.deepEqual(
        { ...response, created_at, completed_at: response.completed_at === null ? null : completed_at },
        answer,
      );
      assert.deepEqual(saidBy(response.output), saidIn(parts.flat()));
      assert.deepEqual(response.usage, {
        input_tokens: 7,
        input_tokens_details: { cached_tokens: 1, cache_write_tokens: 0 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 2 },
        total_tokens: 12,
      });
    }),
    { numRuns: 200, seed: 7 },
  );
});

t.test('a failure ends the stream in its own two events, whatever came before', async () => {
  const error = fail('engine_unreachable', 'The model "broke"\n');
  await fc.assert(
    fc.asyncProperty(sequence, fc.nat(30), async (parts, cut) => {
      const before = parts.slice(0, -1).flat().slice(0, cut);
      const failure: Parts = [{ type: 'failure', error }];
      if (before.length > 0) {
        const stream = readEvents(streamOf(await framed([...before.map((part) => [part]), failure])));
        assert.deepEqual(stream.error, { code: 'provider_unavailable', message: error.message });
        assert.deepEqual(stream.response.error, { code: 'server_error', message: error.message });
        assert.deepEqual(saidBy(stream.response.output), saidIn(before));
      }
      await assert.rejects(whole([before, failure]), error);
    }),
    { numRuns: 80, seed: 8 },
  );
});

t.test('whatever an engine sends, the stream stays legal and is billed once', async () => {
  const index = fc.nat(2);
  const anything: fc.Arbitrary<Part> = fc.oneof(
    saying,
    fc
      .record({ call: index, choice: fc.nat(1) })
      .map((place): Part => ({ ...toolCall(place.call), ...place })),
    fc.record({ call: index, words }).map(({ call, words }) => toolArguments(call, words)),
    fc.record({ words, choice: fc.nat(1) }).map(({ words, choice }) => text(words, choice)),
    fc
      .constantFrom<FinishReason>('stop', 'length')
      .map((reason): Part => ({ type: 'finish', choice: 0, reason, native: null })),
    fc.constant<Part>(usage(1, 1)),
    fc.constant<Part>({ type: 'failure', error: fail('timeout', 'Too slow') }),
  );
  /** A legal answer in which a few parts were put in, left out or doubled. */
  const edits = fc.array(fc.record({ at: fc.nat(20), part: fc.option(anything), drop: fc.boolean() }), {
    maxLength: 3,
  });
  const arrivals = fc.tuple(sequence, edits).map(([parts, edits]): Parts[] => {
    const order = parts.flat();
    for (const { at, part, drop } of edits) {
      const place = Math.min(at, order.length);
      const [here] = order.slice(place);
      const put = part ?? here;
      order.splice(place, drop ? 1 : 0, ...(put === undefined ? [] : [put]));
    }
    return order.map((part) => [part]);
  });
  const endings = fc.constantFrom('complete', 'complete', 'error', 'throw');
  let answered = 0;
  let broken = 0;
  await fc.assert(
    fc.asyncProperty(arrivals, endings, async (parts, ending) => {
      const source: Observable<Parts> =
        ending === 'complete'
          ? from(parts)
          : concat(
              from(parts),
              throwError(() => (ending === 'throw' ? new Error('inside') : fail('unavailable', 'Busy'))),
            );
      const at = harness(source);
      let replies: readonly Reply[];
      try {
        replies = await ask({ input: 'Hi', stream: true }, at);
      } catch (error) {
        assert.ok(error instanceof ApiError && error.status >= 500, String(error));
        assert.equal(at.events.length, 1);
        return;
      }
      const { response, error } = readEvents(streamOf(replies));
      if (error === undefined) answered++;
      else broken++;
      assert.equal(at.events.length, 1);
      assert.equal(at.events[0]?.outcome, response.status === 'failed' ? 'failed' : 'completed');
    }),
    { numRuns: 400, seed: 9 },
  );
  assert.ok(answered > 50 && broken > 100, `${answered} answered, ${broken} broken`);
});

// ── by hand ────────────────────────────────────────────────────────────────────────────────────────

t.test('the layout of a stream, byte by byte', async (t) => {
  const parts: Parts[] = [
    [thought('Hm'), text('Hel"lo')],
    [toolCall(0)],
    [toolArguments(0, '{"a":1}'), toolArguments(0, ''), toolCall(1, 'see'), finish('tool_calls')],
    [usage(5, 2)],
  ];
  const replies = await framed(parts);
  t.strictSame(replies[0], streamHead());
  t.equal(replies.length, 1 + parts.length, 'one write per arrival');
  const { types, response } = readEvents(streamOf(replies));
  t.strictSame(types, [
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.content_part.added',
    'response.reasoning_text.delta',
    'response.reasoning_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.output_item.added',
    'response.function_call_arguments.delta',
    'response.function_call_arguments.done',
    'response.output_item.done',
    'response.output_item.added',
    'response.function_call_arguments.done',
    'response.output_item.done',
    'response.completed',
  ]);
  t.strictSame(response.output, [
    {
      type: 'reasoning',
      id: 'rs_abc_0',
      status: 'completed',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'Hm' }],
    },
    {
      type: 'message',
      id: 'msg_abc_1',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hel"lo', annotations: [], logprobs: [] }],
    },
    {
      type: 'function_call',
      id: 'fc_abc_2',
      status: 'completed',
      call_id: 'call_0',
      name: 'look',
      arguments: '{"a":1}',
    },
    {
      type: 'function_call',
      id: 'fc_abc_3',
      status: 'completed',
      call_id: 'call_1',
      name: 'see',
      arguments: '',
    },
  ]);
  const bytes = streamOf(replies);
  t.match(
    bytes,
    'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","item_id":"msg_abc_1","output_index":1,"content_index":0,"sequence_number":10,"delta":"Hel\\"lo","logprobs":[]}\n\n',
  );
  t.match(
    bytes,
    'event: response.function_call_arguments.done\ndata: {"type":"response.function_call_arguments.done","sequence_number":16,"item_id":"fc_abc_2","output_index":2,"name":"look","arguments":"{\\"a\\":1}"}\n\n',
  );
});

t.test('the reader of these tests is strict', async (t) => {
  const parts: Parts[] = [
    [thought('Hm'), text('a'), text('b'), toolCall(0), toolArguments(0, '{'), toolArguments(0, '}')],
    [finish('tool_calls'), usage(5, 2)],
  ];
  const blocks = streamOf(await framed(parts))
    .slice(0, -2)
    .split('\n\n');
  const numbered = (blocks: readonly string[]) =>
    blocks
      .map((block, at) => `${block.replace(/"sequence_number":\d+/, `"sequence_number":${at}`)}\n\n`)
      .join('');
  t.doesNotThrow(() => readEvents(numbered(blocks)));
  for (const at of blocks.keys()) {
    const [here = '', next = ''] = blocks.slice(at);
    t.throws(() => readEvents(numbered(blocks.toSpliced(at, 1))), `without ${here.slice(0, 60)}`);
    t.throws(() => readEvents(numbered(blocks.toSpliced(at, 1, here, here))), `twice ${here.slice(0, 60)}`);
    if (next !== '') t.throws(() => readEvents(numbered(blocks.toSpliced(at, 2, next, here))), 'exchanged');
  }
  t.throws(
    () =>
      readEvents(
        blocks
          .map((block) => `${block}\n\n`)
          .slice(1)
          .join(''),
      ),
    'numbered from 1',
  );
  t.throws(() => readEvents(blocks.join('\n\n')), 'the last event not closed');
});

t.test('a truncated response', async (t) => {
  const cut = (reason: FinishReason, ...parts: Part[]) =>
    whole([[...parts, { type: 'finish', choice: 0, reason, native: null }], [usage(1, 1)]]);
  const long = await cut('length', thought('Hm'), text('Hel'));
  t.match(long, {
    status: 'incomplete',
    completed_at: null,
    error: null,
    incomplete_details: { reason: 'max_output_tokens' },
  });
  t.same(
    long.output.map(({ status }) => status),
    ['completed', 'incomplete'],
    'only the last item was cut',
  );
  t.match(await cut('content_filter', text('Hel')), {
    status: 'incomplete',
    incomplete_details: { reason: 'content_filter' },
    output: [{ status: 'incomplete' }],
  });
  t.match(await cut('length', toolCall(0), toolArguments(0, '{"ci')), {
    output: [{ type: 'function_call', status: 'incomplete', arguments: '{"ci' }],
  });
  t.match(await cut('stop'), { status: 'completed', output: [] }, 'nothing at all is an answer too');
});

t.test('logprobs', async (t) => {
  const token = (words: string): Logprob => ({
    token: words,
    logprob: -1,
    bytes: null,
    top_logprobs: [{ token: 'é', logprob: -2, bytes: null }],
  });
  const parts: Parts[] = [
    [{ ...text('Hel'), logprobs: [token('Hel')] }],
    [{ ...text(''), logprobs: [token('\u0000')] }],
    [{ ...text('lo'), logprobs: [token('lo')] }],
    [{ ...text(''), logprobs: [token('')] }, finish()],
    [usage(1, 3)],
  ];
  const told = (words: string, ...bytes: number[]) => ({
    token: words,
    logprob: -1,
    bytes,
    top_logprobs: [{ token: 'é', logprob: -2, bytes: [195, 169] }],
  });
  const all = [told('Hel', 72, 101, 108), told('\u0000', 0), told('lo', 108, 111), told('')];
  const { response } = readEvents(streamOf(await framed(parts)));
  t.match(response.output, [{ content: [{ text: 'Hello', logprobs: all }] }]);
  t.match(
    (await whole(parts, false)).output,
    [{ content: [{ text: 'Hello', logprobs: [] }] }],
    'if not asked',
  );
  const called = [[toolCall(0), { ...text(''), logprobs: [token('')] }, finish()], [usage(1, 1)]];
  t.equal((await whole(called)).output.length, 1, 'tokens without text make no message');
});

t.test('a disconnected client is billed for the output, and its slot is freed', (t) => {
  const at = harness(concat(of<Parts[]>([text('a')], [text('b')]), NEVER));
  const replies: Reply[] = [];
  const leaving = run(responses(at.ports), exchange({ input: 'Hi', stream: true })).subscribe((reply) =>
    replies.push(reply),
  );
  t.equal(at.events.length, 0);
  leaving.unsubscribe();
  t.match(at.events, [{ route: '/responses', outcome: 'cancelled', generated_tokens: 2 }]);
  t.match(at.leases, [{ released: 1 }]);
  t.match(streamOf(replies), /"delta":"b"/);
  t.end();
});

t.test('failures', async (t) => {
  const broken = (error: ApiError) =>
    ask({ input: 'Hi', stream: true }, harness(of<Parts[]>([text('a')], [{ type: 'failure', error }])));
  for (const [error, code] of [
    [fail('unavailable', 'Busy'), 'server_error'],
    [fail('timeout', 'Slow'), 'server_error'],
    [fail('rate_limited', 'Wait'), 'rate_limit_exceeded'],
    [fail('invalid_request', 'No'), 'invalid_prompt'],
  ] as const) {
    const { response, error: told } = readEvents(streamOf(await broken(error)));
    t.strictSame(told, { code: errorBody(error).metadata.error_type, message: error.message });
    t.strictSame(response.error, { code, message: error.message });
  }
  t.equal(
    await refusal({ input: 'Hi', stream: true }, harness(throwError(() => fail('unavailable', 'Busy')))),
    '503 Busy',
    'before the first token it is the status',
  );
  const unkept = harness(of<Parts[]>([finish()], [usage(1, 1)]));
  t.match(
    await refusal(
      { input: 'Hi', stream: true },
      {
        ...unkept,
        ports: {
          ...unkept.ports,
          usage: { ...unkept.ports.usage, record: () => throwError(() => fail('unavailable', 'Full')) },
        },
      },
    ),
    'answered',
    'an answer has begun with its finish',
  );
  await t.rejects(framed([[{ type: 'failure', error: fail('unavailable', 'Full') }]]), { message: 'Full' });
});
