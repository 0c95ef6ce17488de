/** Tests how calls are encoded as bodies of the Messages API, and what is refused by name. */
import t from 'tap';
import type { Model } from '../../schemas/catalog.ts';
import { encodeMessages } from '../../src/engines/wires/anthropic/encode.ts';
import { asApiError } from '../../src/errors.ts';
import type { ChatCall, ChatMessage, Thinking } from '../../src/ports/engines/chat.ts';
import { sampleCall, sampleModel, userSays } from '../samples.ts';

const model = sampleModel({ supported_parameters: ['response_format'] });

const encode = (call: Partial<ChatCall>, as: Model = model) =>
  JSON.parse([encodeMessages(as, sampleCall(call))].flat().join(''));

const basic = {
  model: 'writer-large-fp8',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hello' }],
};

const says = (role: 'system' | 'developer', text: string): ChatMessage => ({
  role,
  content: [{ type: 'text', text }],
});
const assistant = (
  texts: readonly string[],
  more: Partial<Extract<ChatMessage, { role: 'assistant' }>> = {},
) =>
  ({
    role: 'assistant',
    content: texts.map((text) => ({ type: 'text', text })),
    toolCalls: [],
    ...more,
  }) as ChatMessage;
const result = (callId: string, ...texts: readonly string[]): ChatMessage => ({
  role: 'tool',
  callId,
  content: texts.map((text) => ({ type: 'text', text })),
});
const image = (base64: string) => ({ type: 'image', mediaType: 'image/png', base64 }) as const;

t.test('a minimal call, and everything at once', async (t) => {
  t.strictSame(encode({}), { ...basic, stream: true });
  t.strictSame(encode({ stream: false }), basic);
  t.strictSame(
    encode({
      stream: false,
      stop: ['a', 'b'],
      user: 'u-1',
      sampling: {
        temperature: 0,
        topP: 0.5,
        topK: 40,
        frequencyPenalty: 0,
        presencePenalty: 0,
        repetitionPenalty: 1,
        logitBias: {},
      },
      tools: [
        { name: 'f', description: 'd', parameters: { properties: {} }, strict: true },
        { name: 'g', strict: false },
      ],
      toolChoice: { name: 'f' },
      parallelToolCalls: false,
      format: { type: 'json_schema', name: 's', schema: { type: 'object' }, strict: true },
    }),
    {
      ...basic,
      temperature: 0,
      top_p: 0.5,
      top_k: 40,
      stop_sequences: ['a', 'b'],
      metadata: { user_id: 'u-1' },
      tools: [
        { name: 'f', description: 'd', input_schema: { type: 'object', properties: {} }, strict: true },
        { name: 'g', input_schema: { type: 'object' } },
      ],
      tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
    },
  );
  t.strictSame(encode({ stream: false, sampling: { topK: 0, topP: 1 } }), basic, 'off');
  t.equal(encode({ sampling: { topP: 0 } }).top_p, 1e-6);
});

t.test('temperature 1 is sent unless the row says that the model takes none', async (t) => {
  const sent = (temperature: number, supported_parameters: string[]) =>
    encode({ sampling: { temperature, topP: 1 } }, sampleModel({ supported_parameters })).temperature;
  t.equal(sent(1, ['temperature']), 1);
  t.equal(sent(1, ['max_tokens']), undefined);
  t.equal(sent(0.5, ['max_tokens']), 0.5, 'the engine says so itself');
});

t.test('fields that only the engine knows', async (t) => {
  const forwarded = { cache_control: { type: 'ephemeral' }, max_tokens: 7, chat_template_kwargs: { a: 1 } };
  t.strictSame(encode({ stream: false, forwarded }), {
    ...basic,
    cache_control: { type: 'ephemeral' },
    chat_template_kwargs: { a: 1 },
  });
  const wire = { enabled_field: 'chat_template_kwargs.enable_thinking' };
  const reasoning = { mandatory: false, wire };
  t.strictSame(
    encode({ forwarded, thinking: { effort: 'none', budget: undefined } }, sampleModel({ reasoning }))
      .chat_template_kwargs,
    { a: 1, enable_thinking: false },
  );
});

t.test('tool choices', async (t) => {
  const choice = (toolChoice: ChatCall['toolChoice'], parallelToolCalls?: boolean) =>
    encode({ tools: [{ name: 'f' }], toolChoice, parallelToolCalls }).tool_choice;
  t.equal(choice('auto'), undefined, 'the default');
  t.equal(choice('auto', true), undefined);
  t.strictSame(choice('auto', false), { type: 'auto', disable_parallel_tool_use: true });
  t.strictSame(choice('required'), { type: 'any' });
  t.strictSame(choice('none', false), { type: 'none' });
  t.strictSame(choice({ name: 'f' }), { type: 'tool', name: 'f' });
  t.equal(encode({ toolChoice: 'none' }).tool_choice, undefined, 'no tools at all');
});

t.test('turns: roles are merged, results come first, empty texts are left out', async (t) => {
  const messages = (list: readonly ChatMessage[]) => {
    const { system, messages } = encode({ messages: list });
    return { system, messages };
  };
  t.strictSame(
    messages([
      says('system', 'Be brief'),
      says('developer', 'Be kind'),
      userSays('Hi'),
      userSays('there'),
      assistant(['Let me', '', 'look'], {
        toolCalls: [
          { id: 'call_1', name: 'f', arguments: '{"a":1}' },
          { id: 'of another service!', name: 'g', arguments: '' },
          { id: 'call_2', name: 'h', arguments: '{"cut' },
        ],
      }),
      assistant([]),
      userSays('By the way'),
      result('call_1', 'one', 'two'),
      result('of another service!'),
      result('call_2', 'three'),
      assistant(['']),
      userSays(''),
      userSays('Well?'),
    ]),
    {
      system: 'Be brief\nBe kind',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hi' },
            { type: 'text', text: 'there' },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Let me' },
            { type: 'text', text: 'look' },
            { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
            { type: 'tool_use', id: 'toolu_d91d1a3a0e78813b1dce353516c60fb0', name: 'g', input: {} },
            { type: 'tool_use', id: 'toolu_2', name: 'h', input: { INVALID_JSON: '{"cut' } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'toolu_1',
              content: [
                { type: 'text', text: 'one' },
                { type: 'text', text: 'two' },
              ],
            },
            { type: 'tool_result', tool_use_id: 'toolu_d91d1a3a0e78813b1dce353516c60fb0' },
            { type: 'tool_result', tool_use_id: 'toolu_2', content: 'three' },
            { type: 'text', text: 'By the way' },
            { type: 'text', text: 'Well?' },
          ],
        },
      ],
    },
  );
  t.strictSame(
    messages([
      userSays('Hi'),
      says('system', 'a'),
      userSays('again'),
      says('system', 'b'),
      assistant(['Yes']),
      says('system', 'c'),
      userSays('And?'),
    ]).messages,
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'text', text: 'again' },
        ],
      },
      { role: 'system', content: 'a\nb' },
      { role: 'assistant', content: 'Yes' },
      { role: 'user', content: 'And?' },
      { role: 'system', content: 'c' },
    ],
    'a later system message follows the user whom it comes before',
  );
});

t.test('images, large ones out of the JSON and in their order', async (t) => {
  const large = Buffer.from('A'.repeat(100_000));
  const larger = Buffer.from('B'.repeat(100_000));
  const messages: ChatMessage[] = [
    { role: 'user', content: [image('aWE='), { type: 'text', text: 'What is it?' }] },
    assistant([], { toolCalls: [{ id: 'call_1', name: 'f', arguments: '{}' }] }),
    { role: 'user', content: [{ ...image(''), base64: larger }] },
    { role: 'tool', callId: 'call_1', content: [{ ...image(''), base64: large }] },
  ];
  const pieces = [encodeMessages(model, sampleCall({ messages }))].flat();
  t.strictSame(
    pieces.filter((piece) => typeof piece !== 'string'),
    [large, larger],
  );
  const source = (data: string) => ({
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data },
  });
  t.strictSame(JSON.parse(pieces.map(String).join('')).messages, [
    { role: 'user', content: [source('aWE='), { type: 'text', text: 'What is it?' }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: [source(String(large))] },
        source(String(larger)),
      ],
    },
  ]);
});

t.test('thinking', async (t) => {
  type Reasoning = NonNullable<Model['reasoning']>;
  const thinking = (
    reasoning: Partial<Reasoning>,
    asked: Partial<Thinking>,
    call: Partial<ChatCall> = {},
  ) => {
    const { thinking, output_config, chat_template_kwargs } = encode(
      { maxTokens: 10_000, ...call, thinking: { effort: undefined, budget: undefined, ...asked } },
      sampleModel({ reasoning: { mandatory: false, ...reasoning } }),
    );
    return { thinking, output_config, chat_template_kwargs };
  };
  const sent = (value: object) => ({
    thinking: undefined,
    output_config: undefined,
    chat_template_kwargs: undefined,
    ...value,
  });
  const enabled = (budget_tokens: number) => sent({ thinking: { type: 'enabled', budget_tokens } });
  const budgets: Partial<Reasoning> = { supports_max_tokens: true };
  const levels: Partial<Reasoning> = { supported_efforts: ['none', 'low', 'high'] };
  t.strictSame(thinking({}, {}), sent({}), "the engine's default");
  t.strictSame(thinking({}, { effort: 'none' }), sent({ thinking: { type: 'disabled' } }));
  const adaptive = (effort: string) => sent({ thinking: { type: 'adaptive' }, output_config: { effort } });
  t.strictSame(thinking(levels, { effort: 'low' }), adaptive('low'));
  t.strictSame(thinking({ ...levels, ...budgets }, { effort: 'high' }), adaptive('high'));
  t.strictSame(thinking({ ...levels, ...budgets }, { effort: 'high', budget: 2048 }), enabled(2048));
  t.strictSame(thinking(budgets, { effort: 'medium' }), enabled(5000), 'a share of the limit');
  t.strictSame(thinking(budgets, { budget: 5 }), enabled(1024), 'the least there is');
  t.strictSame(thinking(budgets, { budget: 500 }, { maxTokens: 1024 }), sent({}), 'no room for it');
  const kwargs = { wire: { enabled_field: 'chat_template_kwargs.enable_thinking' } };
  t.strictSame(
    thinking(kwargs, { effort: 'medium' }),
    sent({ chat_template_kwargs: { enable_thinking: true } }),
    'fields of the row',
  );
  t.strictSame(thinking({ ...kwargs, ...budgets }, { effort: 'medium', budget: 2000 }), {
    ...enabled(2000),
    chat_template_kwargs: { enable_thinking: true },
  });
  t.strictSame(
    encode(
      {
        thinking: { effort: 'high', budget: undefined },
        format: { type: 'json_schema', name: 's', schema: {} },
      },
      { ...model, reasoning: { mandatory: false } },
    ).output_config,
    { format: { type: 'json_schema', schema: {} }, effort: 'high' },
  );

  const toolCalls = [{ id: 'call_1', name: 'f', arguments: '{}' }];
  const thoughts = [
    { before: 0, text: 'One', signature: 's1' },
    { before: 1, text: '', signature: 's2' },
  ];
  const loop = (more: object): readonly ChatMessage[] => [
    userSays('Hi'),
    assistant(['Let me look'], { toolCalls, ...more }),
    result('call_1', 'x'),
  ];
  t.strictSame(
    thinking(budgets, { budget: 2000 }, { messages: loop({}) }),
    sent({}),
    'tool calls without their thoughts cannot go on with a budget',
  );
  t.strictSame(thinking(budgets, { budget: 2000 }, { messages: loop({ thoughts }) }), enabled(2000));
  t.strictSame(thinking(levels, { effort: 'low' }, { messages: loop({}) }), adaptive('low'));
  const blocks = (effort: Thinking['effort'], as: Model) =>
    encode(
      { messages: loop({ thoughts }), thinking: { effort, budget: undefined } },
      as,
    ).messages[1].content.map(({ type, thinking, signature }: Record<string, unknown>) => [
      type,
      thinking,
      signature,
    ]);
  const mind = sampleModel({ reasoning: { mandatory: false } });
  const without = [
    ['text', undefined, undefined],
    ['tool_use', undefined, undefined],
  ];
  t.strictSame(blocks('low', mind), [
    ['thinking', 'One', 's1'],
    without[0],
    ['thinking', '', 's2'],
    without[1],
  ]);
  t.strictSame(blocks('none', mind), without);
  t.strictSame(blocks(undefined, sampleModel()), without);
});

t.test('what the format has no field for is refused by name', async (t) => {
  const refusal = (call: Partial<ChatCall>, as = model) => {
    try {
      encode(call, as);
      return 'sent';
    } catch (error) {
      const { status, kind, message } = asApiError(error);
      t.strictSame([status, kind], [400, 'unsupported_parameter']);
      return message;
    }
  };
  const by = (name: string) => `${name} is not supported by the engine of model acme/writer-large`;
  t.equal(refusal({ logprobs: { top: 0 } }), by('logprobs'));
  t.equal(refusal({ sampling: { seed: 0 } }), by('seed'));
  t.equal(refusal({ sampling: { frequencyPenalty: 0.1 } }), by('frequency_penalty'));
  t.equal(refusal({ sampling: { presencePenalty: -1 } }), by('presence_penalty'));
  t.equal(refusal({ sampling: { repetitionPenalty: 1.1 } }), by('repetition_penalty'));
  t.equal(refusal({ sampling: { logitBias: { '1': 1 } } }), by('logit_bias'));
  t.equal(refusal({ format: { type: 'json_object' } }), by('response_format json_object'));
  const schema: ChatCall['format'] = { type: 'json_schema', name: 's', schema: {} };
  t.equal(refusal({ format: schema }, sampleModel()), by('response_format json_schema'));
  t.equal(refusal({ format: schema }, sampleModel({ supported_parameters: ['structured_outputs'] })), 'sent');
  for (const type of ['audio', 'video'] as const)
    t.equal(
      refusal({
        messages: [{ role: 'user', content: [{ type, mediaType: `${type}/mp4`, base64: '' }] }],
      }),
      `content of type ${type} is not supported by this model's engine`,
    );
});
