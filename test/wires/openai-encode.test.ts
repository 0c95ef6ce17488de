/** Tests how calls are encoded as request bodies for OpenAI-compatible servers. */
import t from 'tap';
import type { Model } from '../../schemas/catalog.ts';
import type { EngineRow } from '../../schemas/engines.ts';
import { encodeChat } from '../../src/engines/wires/openai/encode.ts';
import type { ChatCall } from '../../src/ports/engines/chat.ts';
import { sampleCall, sampleModel } from '../samples.ts';
import { thinker } from './samples.ts';

const row: EngineRow = { wire: 'openai', replicas: ['http://127.0.0.1:1/v1'] };

const encode = (call: Partial<ChatCall>, model: Model = sampleModel(), changed: Partial<EngineRow> = {}) =>
  JSON.parse([encodeChat(model, sampleCall(call), { ...row, ...changed })].flat().join(''));

const basic = {
  model: 'writer-large-fp8',
  messages: [{ role: 'user', content: 'Hello' }],
  max_tokens: 100,
};
const streamed = { ...basic, stream: true, stream_options: { include_usage: true } };

t.test('a minimal call', async (t) => {
  t.strictSame(encode({}), streamed);
  t.strictSame(encode({ stream: false }), basic);
  const { max_tokens, ...rest } = streamed;
  t.strictSame(encode({}, sampleModel(), { limit_field: 'max_completion_tokens' }), {
    ...rest,
    max_completion_tokens: max_tokens,
  });
});

t.test('everything at once', async (t) => {
  const call: Partial<ChatCall> = {
    stream: false,
    n: 3,
    stop: ['a', 'b'],
    user: 'u-1',
    logprobs: { top: 0 },
    continueFinal: true,
    sampling: {
      temperature: 0,
      topP: 0.5,
      topK: 0,
      frequencyPenalty: -1,
      presencePenalty: 1,
      repetitionPenalty: 1.1,
      seed: 7,
      logitBias: { '50256': -100 },
    },
    tools: [{ name: 'f', description: 'd', parameters: { type: 'object' }, strict: true }, { name: 'g' }],
    toolChoice: { name: 'f' },
    parallelToolCalls: false,
    format: { type: 'json_schema', name: 's', schema: { type: 'object' }, strict: true },
  };
  t.strictSame(encode(call), {
    ...basic,
    n: 3,
    stop: ['a', 'b'],
    user: 'u-1',
    logprobs: true,
    top_logprobs: 0,
    continue_final_message: true,
    add_generation_prompt: false,
    // Greedy choices are all the same, and vLLM refuses to make several.
    temperature: 0.01,
    top_p: 0.5,
    top_k: 1 << 30,
    frequency_penalty: -1,
    presence_penalty: 1,
    repetition_penalty: 1.1,
    seed: 7,
    logit_bias: { '50256': -100 },
    tools: [
      {
        type: 'function',
        function: { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true },
      },
      { type: 'function', function: { name: 'g' } },
    ],
    tool_choice: { type: 'function', function: { name: 'f' } },
    parallel_tool_calls: false,
    response_format: {
      type: 'json_schema',
      json_schema: { name: 's', schema: { type: 'object' }, strict: true },
    },
  });
  t.strictSame(
    encode({ toolChoice: 'none', parallelToolCalls: true }),
    streamed,
    'no tools, no word of them',
  );
  const tools = [{ name: 'g' }];
  t.equal(encode({ tools }).tool_choice, undefined);
  t.equal(encode({ tools, toolChoice: 'required' }).tool_choice, 'required');
  t.strictSame(encode({ format: { type: 'json_object' } }).response_format, { type: 'json_object' });
  t.equal(encode({ sampling: { topK: 40 } }).top_k, 40);
});

t.test('values that servers refuse', async (t) => {
  const zeros = { temperature: 0, topP: 0, repetitionPenalty: 0 };
  t.strictSame(encode({ sampling: zeros }), {
    ...streamed,
    temperature: 0,
    top_p: 1e-6,
    repetition_penalty: 0.01,
  });
  t.equal(encode({ sampling: { temperature: 0 }, n: 2 }).temperature, 0.01);
  t.equal(encode({ sampling: { temperature: 0.001 }, n: 2 }).temperature, 0.001, 'others are as they came');
});

t.test('forwarded fields', async (t) => {
  const forwarded = {
    min_p: 0.1,
    chat_template_kwargs: { enable_thinking: true, style: 'terse' },
    user: 'x',
  };
  t.strictSame(encode({ forwarded, user: 'u-1' }), { ...streamed, ...forwarded, user: 'u-1' });
  const switched = encode(
    { forwarded, thinking: { effort: 'none', budget: undefined } },
    sampleModel({
      reasoning: { mandatory: false, wire: { enabled_field: 'chat_template_kwargs.enable_thinking' } },
    }),
  );
  t.strictSame(
    switched.chat_template_kwargs,
    { enable_thinking: false, style: 'terse' },
    'the gateway decides about thinking, and leaves the rest',
  );
  t.strictSame(forwarded.chat_template_kwargs, { enable_thinking: true, style: 'terse' }, 'unchanged');
});

t.test('messages', async (t) => {
  const text = (words: string) => ({ type: 'text' as const, text: words });
  const messages: ChatCall['messages'] = [
    { role: 'system', content: [text('a'), text('b')], name: 's' },
    { role: 'developer', content: [text('c')] },
    {
      role: 'user',
      content: [
        text('look'),
        { type: 'image', mediaType: 'image/png', base64: 'aWk=', detail: 'low' },
        { type: 'audio', mediaType: 'audio/mpeg', base64: 'bXAz' },
        { type: 'audio', mediaType: 'audio/ogg', base64: 'b2dn' },
        { type: 'video', mediaType: 'video/mp4', base64: 'bXA0' },
      ],
    },
    { role: 'assistant', content: [], toolCalls: [{ id: 'call_1', name: 'f', arguments: '{}' }] },
    { role: 'tool', callId: 'call_1', content: [text('x'), text('y')] },
    { role: 'assistant', content: [text('So')], toolCalls: [], name: 'n' },
  ];
  t.strictSame(encode({ messages }).messages, [
    { role: 'system', content: 'a\nb', name: 's' },
    { role: 'system', content: 'c' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'look' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,aWk=', detail: 'low' } },
        { type: 'input_audio', input_audio: { data: 'bXAz', format: 'mp3' } },
        { type: 'input_audio', input_audio: { data: 'b2dn', format: 'ogg' } },
        { type: 'video_url', video_url: { url: 'data:video/mp4;base64,bXA0' } },
      ],
    },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'x\ny' },
    { role: 'assistant', content: 'So', name: 'n' },
  ]);
});

t.test('large media stays out of the JSON until it is sent', async (t) => {
  const image = (base64: string) => ({ type: 'image' as const, mediaType: 'image/png', base64 });
  const [first, second] = ['A'.repeat(70_000), 'B'.repeat(90_000)];
  const messages: ChatCall['messages'] = [
    {
      role: 'user',
      content: [image(first), image('small'), { type: 'audio', mediaType: 'audio/wav', base64: second }],
    },
  ];
  const body = encodeChat(sampleModel(), sampleCall({ messages }), row);
  t.equal(body.length, 5);
  t.equal(body[1], first);
  t.equal(body[3], second);
  t.strictSame(encode({ messages }).messages[0].content, [
    { type: 'image_url', image_url: { url: `data:image/png;base64,${first}` } },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,small' } },
    { type: 'input_audio', input_audio: { data: second, format: 'wav' } },
  ]);
});

t.test('reasoning is encoded as the model needs it', async (t) => {
  const reasoning = (wire: object, supports = true): Model =>
    sampleModel({ reasoning: { mandatory: false, supports_max_tokens: supports, wire } });
  const said = (model: Model, effort: ChatCall['thinking']['effort'], budget?: number) => {
    const body = encode({ thinking: { effort, budget } }, model);
    return Object.fromEntries(Object.entries(body).filter(([key]) => !(key in streamed)));
  };
  t.strictSame(said(sampleModel(), 'high', 10), {}, 'a model that does not reason');
  t.strictSame(said(thinker, undefined), {});
  t.strictSame(said(thinker, 'none'), { reasoning_effort: 'none' });
  t.strictSame(said(thinker, 'high', 2000), { reasoning_effort: 'high' }, 'no budget it could keep');
  t.strictSame(said(sampleModel({ reasoning: { mandatory: false, supports_max_tokens: true } }), 'low', 9), {
    reasoning_effort: 'low',
    reasoning: { max_tokens: 9 },
  });
  const template = reasoning({
    effort_field: 'chat_template_kwargs.effort',
    enabled_field: 'chat_template_kwargs.enable_thinking',
    budget_field: 'thinking_token_budget',
  });
  t.strictSame(said(template, 'low', 1024), {
    chat_template_kwargs: { enable_thinking: true, effort: 'low' },
    thinking_token_budget: 1024,
  });
  t.strictSame(said(template, 'none', 1024), { chat_template_kwargs: { enable_thinking: false } });
  t.strictSame(said(template, undefined, 512), { thinking_token_budget: 512 });
  t.strictSame(said(reasoning({ enabled_field: 'a.b.c' }, false), 'max', 5), { a: { b: { c: true } } });
  const untilTold = reasoning({ off_field: 'reasoning_effort' });
  t.strictSame(said(untilTold, 'none'), { reasoning_effort: 'none' });
  t.strictSame(said(untilTold, 'medium'), {}, 'thinks unless told, and knows no levels');
  const offByDefault = (wire: object) =>
    sampleModel({ reasoning: { mandatory: false, default_enabled: false, wire } });
  const kwargs = offByDefault({ enabled_field: 'chat_template_kwargs.enable_thinking' });
  t.strictSame(said(kwargs, undefined), { chat_template_kwargs: { enable_thinking: false } });
  t.strictSame(said(kwargs, 'low'), { chat_template_kwargs: { enable_thinking: true } });
  t.strictSame(said(offByDefault({ off_field: 'think' }), undefined), { think: 'none' });
  t.strictSame(said(offByDefault({ effort_field: 'effort' }), undefined), {}, 'no switch');
});
