/** Checks of the AI SDK: each of its providers makes text, streams, runs tools and fills schemas. */
import assert from 'node:assert/strict';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import { generateObject, generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

globalThis.AI_SDK_LOG_WARNINGS = false;

const settings = { baseURL: process.env.SLUICE_URL, apiKey: process.env.SLUICE_KEY };
const openai = createOpenAI(settings);
const compatible = createOpenAICompatible({
  ...settings,
  name: 'sluice',
  includeUsage: true,
  supportsStructuredOutputs: true,
});
const openrouter = createOpenRouter(settings);

/**
 * `common` are options for every model. `options` also make a model with reasoning show it, so that the second
 * step of a tool loop sends it back. `refuses` is what a conversation of several turns is refused with.
 */
const providers = {
  'openai responses': {
    model: (id) => openai(id),
    options: { openai: { reasoningSummary: 'auto' } },
    refuses: /item_reference .* store: false/,
  },
  'openai responses, not stored': {
    model: (id) => openai(id),
    common: { openai: { store: false } },
    options: { openai: { store: false, reasoningSummary: 'auto' } },
  },
  'openai chat': { model: (id) => openai.chat(id) },
  'openai-compatible': { model: (id) => compatible(id), showsReasoning: true },
  anthropic: {
    model: createAnthropic(settings),
    options: { anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } } },
    showsReasoning: true,
  },
  openrouter: {
    model: (id) => openrouter.chat(id),
    options: { openrouter: { reasoning: { effort: 'low' } } },
    showsReasoning: true,
  },
};

/** Twelve levels, each of which may be null. */
const nested = (depth) =>
  depth === 0 ? z.string().nullable() : z.object({ inner: nested(depth - 1) }).nullable();

const schemas = {
  'a raw schema': jsonSchema({
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer' } },
    required: ['city'],
  }),
  'optional fields': z.object({ city: z.string(), note: z.string().optional() }),
  'a record': z.object({ counts: z.record(z.string(), z.number()) }),
  unions: z.object({
    value: z.union([z.string(), z.number()]),
    kind: z.discriminatedUnion('type', [
      z.object({ type: z.literal('place'), name: z.string() }),
      z.object({ type: z.literal('count'), number: z.number() }),
    ]),
  }),
  'deep nullables': z.object({ outer: nested(12) }),
};

const question = { prompt: 'What is the weather in Paris?', stopWhen: stepCountIs(4), maxRetries: 0 };

/** A tool whose result is nowhere in the prompt. */
const weather = () => {
  const inputs = [];
  const getWeather = tool({
    description: 'The weather in a city.',
    inputSchema: z.object({ city: z.string() }),
    execute: async (input) => {
      inputs.push(input);
      return { sky: 'violet', degrees: 41_337 };
    },
  });
  return { inputs, tools: { get_weather: getWeather } };
};

const expectLoop = (inputs, steps, text) => {
  assert.deepEqual(inputs, [{ city: 'Paris' }]);
  assert.equal(steps.length, 2);
  assert.match(text, /According to get_weather: .*41337/);
};

/** Runs parts of a check in turn; an error names its part. */
const inTurn = (parts) => async () => {
  for (const [name, run] of Object.entries(parts))
    await run().catch((error) => {
      throw new Error(`${name}: ${error.message}\n${error.responseBody ?? ''}`, { cause: error });
    });
};

const text = (model) => {
  const call = { model: model('sluice/chat'), prompt: '/sim text="Four words are here."', maxRetries: 0 };
  return inTurn({
    async generateText() {
      const { text, finishReason, usage } = await generateText(call);
      assert.deepEqual([text, finishReason], ['Four words are here.', 'stop']);
      assert.ok(usage.inputTokens > 0 && usage.outputTokens > 0, JSON.stringify(usage));
    },
    async streamText() {
      const result = streamText({ ...call, onError() {} });
      const deltas = [];
      for await (const delta of result.textStream) deltas.push(delta);
      assert.equal(deltas.join(''), 'Four words are here.');
      assert.ok(deltas.length > 1, 'it came at once');
      assert.ok((await result.usage).outputTokens > 0);
    },
  });
};

const toolLoop = (call, showsReasoning) =>
  inTurn({
    async generateText() {
      const { inputs, tools } = weather();
      const { text, steps } = await generateText({ ...call, tools });
      expectLoop(inputs, steps, text);
      if (showsReasoning) assert.ok(steps[0].reasoningText?.length > 0, 'no reasoning was shown');
    },
    async streamText() {
      const { inputs, tools } = weather();
      let failure;
      const onError = ({ error }) => {
        failure = error;
      };
      const result = streamText({ ...call, tools, onError });
      const text = await result.text;
      if (failure !== undefined) throw failure;
      expectLoop(inputs, await result.steps, text);
    },
  });

/** Two turns, the first with a tool call. */
const conversation = (call, refuses) => async () => {
  const { tools } = weather();
  const messages = [{ role: 'user', content: question.prompt }];
  const { prompt: _, ...options } = { ...call, tools };
  const first = await generateText({ ...options, messages });
  const made = first.responseMessages ?? first.response.messages;
  messages.push(...made, { role: 'user', content: '/sim text="The second turn."' });
  const second = generateText({ ...options, messages });
  if (refuses === undefined) assert.equal((await second).text, 'The second turn.');
  else await assert.rejects(second, { statusCode: 400, message: refuses });
};

const objects = (model) => {
  const call = { model: model('sluice/chat'), prompt: 'Plan a trip to Rome for 5 days.', maxRetries: 0 };
  const fill = (schema) => async () => {
    const { object } = await generateObject({ ...call, schema });
    assert.equal(typeof object, 'object');
    const { output } = await generateText({ ...call, output: Output.object({ schema }) });
    assert.deepEqual(output, object);
  };
  return inTurn(Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, fill(schema)])));
};

const checks = Object.entries(providers).flatMap(([name, provider]) => {
  const { model, common = {}, options = {}, showsReasoning = false, refuses } = provider;
  const plain = { ...question, model: model('sluice/chat'), providerOptions: common };
  const reasoner = { ...question, model: model('sluice/reasoner'), providerOptions: options };
  return [
    [`${name}: text`, text(model)],
    [`${name}: tools`, toolLoop(plain, false)],
    [`${name}: tools with reasoning`, toolLoop(reasoner, showsReasoning)],
    [`${name}: conversation`, conversation(reasoner, refuses)],
    [`${name}: objects`, objects(model)],
  ];
});

for (const [check, run] of checks) {
  const begun = performance.now();
  const problem = await run().then(
    () => null,
    (error) => String(error.stack).slice(0, 4000),
  );
  console.log(JSON.stringify({ check, seconds: (performance.now() - begun) / 1000, problem }));
}
