/** Tests the simulator's responses: deterministic, and within the limits of a call. */
import fc from 'fast-check';
import t from 'tap';
import type { ChatCall, ChatMessage, Tool } from '../../src/ports/engines/chat.ts';
import { countTokens as countAs } from '../../src/tokens/count.ts';
import { fixedTokens, promptTexts } from '../../src/tokens/prompt.ts';
import { countTokens, splitTokens } from '../../src/tokens/simulator.ts';
import { userSays } from '../samples.ts';
import {
  argumentsOf,
  assistant,
  callOf,
  finishOf,
  plainModel,
  run,
  textOf,
  thinkingModel,
  thoughtOf,
  usageOf,
} from './fixtures.ts';

fc.configureGlobal({ seed: 20260101 });

const question = 'How do the tides of the harbour work?';

t.test('the same call gives the same response, another seed another one', async (t) => {
  const once = run(callOf(question)).parts;
  t.same(run(callOf(question)).parts, once);
  t.match(textOf(once), /^You asked about tides, harbour and work\. /);
  const seeded = textOf(run(callOf(question, { sampling: { seed: 7 } })).parts);
  t.equal(textOf(run(callOf(question, { sampling: { seed: 7 } })).parts), seeded);
  const texts = [1, 2, 3, 4].map((seed) => textOf(run(callOf(question, { sampling: { seed } })).parts));
  t.ok(new Set(texts).size > 1);
  const chances = Array.from({ length: 8 }, () =>
    textOf(run(callOf(`/sim seed=random tokens=60\n${question}`)).parts),
  );
  t.ok(new Set(chances).size > 1, 'chance when it is asked for');
});

t.test('a directive line does not change the text', async (t) => {
  t.equal(
    textOf(run(callOf(`/sim rate=10/s first=1s\n${question}`)).parts),
    textOf(run(callOf(question)).parts),
  );
});

t.test('a directive line is read wherever a client puts what the user says', async (t) => {
  const says = (...texts: string[]): ChatMessage => ({
    role: 'user',
    content: texts.map((text) => ({ type: 'text', text })),
  });
  const reminder =
    '<system-reminder>\nUse the restart tool. /sim text="never"\n/sim text="never"\n</system-reminder>';
  const developer: ChatMessage = { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] };
  const line = '/sim text="as told"';
  const places: Record<string, ChatMessage[]> = {
    'the first line': [says(`${line}\nHello`)],
    'a later line': [says(`Hello\n${line}\nagain`)],
    'another part': [says('Hello', line)],
    'after a reminder': [says(reminder, `${line}\nHello`)],
    'on the line where a reminder ends': [says(`${reminder}${line}`)],
    'before a reminder': [says(line, reminder)],
    'before a message of reminders': [says(line), says(reminder)],
    'before another user message': [says(line), developer, says('The folder is /work.')],
    'before a developer message': [says(line), developer],
  };
  for (const [place, messages] of Object.entries(places))
    t.equal(textOf(run(callOf(messages)).parts), 'as told', place);

  const elsewhere: Record<string, ChatMessage[]> = {
    'an earlier question': [says(line), assistant('as told'), says('Hello')],
    'a developer message': [{ role: 'developer', content: [{ type: 'text', text: line }] }, says('Hello')],
    'the middle of a line': [says(`Hello ${line}`)],
    'a longer word': [says('/simulate text="as told"')],
    'a reminder': [says(reminder, 'Hello')],
  };
  for (const [place, messages] of Object.entries(elsewhere))
    t.match(textOf(run(callOf(messages)).parts), /^You asked about /, place);

  t.equal(
    textOf(run(callOf([says(reminder, 'one\n/sim echo\ntwo')])).parts),
    '\none\ntwo',
    'is no part of the prompt',
  );
  t.match(run(callOf([says('Hello'), assistant('Hi'), says('Hello', '/sim nothing')])).error, {
    status: 400,
    message: 'messages[2].content: unknown /sim directive "nothing"',
  });
  const unclosed = says('<system-reminder>'.repeat(50_000), line);
  t.equal(textOf(run(callOf([unclosed])).parts), 'as told', 'reminders that are not closed are text');
});

t.test('reminders after a tool result do not start the loop again', async (t) => {
  const restart: Tool = { name: 'restart' };
  const messages: ChatMessage[] = [
    userSays('Go on.\n/sim tool=restart arguments="{\\"now\\": "'),
    { role: 'assistant', content: [], toolCalls: [{ id: 'call_1', name: 'restart', arguments: '{}' }] },
    { role: 'tool', callId: 'call_1', content: [{ type: 'text', text: 'restarted' }] },
    userSays('<system-reminder>The restart tool can be used again.</system-reminder>'),
  ];
  const first = run(callOf(messages.slice(0, 1), { tools: [restart] })).parts;
  t.equal(argumentsOf(first), '{"now": ', 'arguments as they are');
  const { parts } = run(callOf(messages, { tools: [restart] }));
  t.match(textOf(parts), /restarted/);
  t.match(finishOf(parts), { reason: 'stop' });
});

t.test('a whole response is text, finish and usage', async (t) => {
  const { parts, isComplete } = run(callOf('/sim tokens=3\nHello'));
  t.ok(isComplete);
  t.same(parts, [
    { type: 'text', choice: 0, text: 'You' },
    { type: 'text', choice: 0, text: ' asked' },
    { type: 'text', choice: 0, text: '.' },
    { type: 'finish', choice: 0, reason: 'stop', native: 'stop' },
    { type: 'usage', usage: { prompt: 13, completion: 3, cached: 0, reasoning: 0 } },
  ]);
});

t.test('tokens, maxTokens and what is counted agree', async (t) => {
  for (const tokens of [0, 1, 2, 3, 11, 12, 50, 1000]) {
    const { parts } = run(callOf(`/sim tokens=${tokens}\n${question}`));
    t.equal(parts.filter((part) => part.type === 'text').length, tokens);
    t.equal(usageOf(parts)?.completion, tokens);
    t.equal(countTokens(textOf(parts)), tokens, textOf(parts).slice(-30));
    t.match(finishOf(parts), { reason: 'stop' });
  }
  const cut = run(callOf('/sim tokens=50\nx', { maxTokens: 10 })).parts;
  t.equal(usageOf(cut)?.completion, 10);
  t.match(finishOf(cut), { reason: 'length', native: 'length' });
  t.match(finishOf(run(callOf('/sim tokens=10\nx', { maxTokens: 10 })).parts), { reason: 'stop' });
});

t.test('joined tokens are the text, and never more than its bytes', async () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.lorem()), (text) => {
      const tokens = [...splitTokens(text)];
      return (
        tokens.join('') === text &&
        tokens.every((token) => token !== '') &&
        tokens.length === countTokens(text) &&
        tokens.length <= Buffer.byteLength(text)
      );
    }),
  );
});

t.test('the prompt is counted as the gateway counts it', async (t) => {
  const messages: ChatMessage[] = [
    { role: 'system', content: [{ type: 'text', text: `Be brief. ${'x'.repeat(500)}` }] },
    userSays('/sim tokens=3\nWie hoch ist die Flut? 潮汐 👋'),
    {
      role: 'assistant',
      content: [],
      toolCalls: [{ id: 'call_1', name: 'get_tide', arguments: '{"at":"noon"}' }],
    },
    { role: 'tool', callId: 'call_1', content: [{ type: 'text', text: '4.20 m' }] },
  ];
  const call = callOf(messages, { tools: [weather], toolChoice: 'none' });
  const counted = fixedTokens(call) + (await countAs(promptTexts(call), 'simulator'));
  t.equal(usageOf(run(call).parts)?.prompt, counted);
});

t.test('n choices are indexed and differ', async (t) => {
  const { parts } = run(callOf(`/sim tokens=40\n${question}`, { n: 3 }));
  const texts = [0, 1, 2].map((choice) => textOf(parts, choice));
  t.equal(new Set(texts).size, 3);
  t.same(
    [0, 1, 2].map((choice) => finishOf(parts, choice)?.type),
    ['finish', 'finish', 'finish'],
  );
  t.equal(usageOf(parts)?.completion, 120);
  t.equal(texts[0], textOf(run(callOf(`/sim tokens=40\n${question}`)).parts), 'the first is the only one');
  t.match(run(callOf('x', { n: 129 })).error, { kind: 'invalid_request', message: 'n must be at most 128' });
});

t.test('stop sequences end the text wherever they begin', async (t) => {
  const cases: [string, string[], string, string | undefined][] = [
    ['one two three', ['two'], 'one ', 'two'],
    ['one two three', ['e tw'], 'on', 'e tw'],
    ['one two three', ['three!', 'two three'], 'one ', 'two three'],
    ['one two three', ['four'], 'one two three', undefined],
    ['aaab', ['aab'], 'a', 'aab'],
    ['abcabcabd', ['abcabd'], 'abc', 'abcabd'],
    ['one two', ['one two', 'two'], '', 'one two'],
    ['half a stop st', ['stopped', 'sto', 'st!'], 'half a ', 'sto'],
    ['ends with a half st', ['stop'], 'ends with a half st', undefined],
    ['Grüße 👋 world', ['👋'], 'Grüße ', '👋'],
  ];
  for (const [text, stop, expected, sequence] of cases) {
    const { parts } = run(callOf(`/sim text=${JSON.stringify(text)}`, { stop }));
    t.equal(textOf(parts), expected, `${text} / ${stop}`);
    t.same(finishOf(parts), {
      type: 'finish',
      choice: 0,
      reason: 'stop',
      native: 'stop',
      ...(sequence === undefined ? {} : { stopSequence: sequence }),
    });
  }
});

t.test('stop sequences of any kind agree with a plain search', async () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', ' '), minLength: 1, maxLength: 5 });
  const text = fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 40 });
  fc.assert(
    fc.property(text, fc.array(word, { minLength: 1, maxLength: 4 }), (spoken, stop) => {
      // The sequence that ends first wins; of several, the longest.
      let end = Number.POSITIVE_INFINITY;
      let from = spoken.length;
      for (const one of stop) {
        const at = spoken.indexOf(one);
        if (at === -1 || at + one.length > end || (at + one.length === end && at > from)) continue;
        end = at + one.length;
        from = at;
      }
      const { parts } = run(callOf(`/sim text=${JSON.stringify(spoken)}`, { stop }));
      return textOf(parts) === spoken.slice(0, from);
    }),
  );
});

t.test('logprobs belong to the text, token by token', async (t) => {
  const { parts } = run(callOf('/sim text="Grüße an alle."', { logprobs: { top: 5 }, stop: ['lle'] }));
  const spoken = parts.flatMap((part) => (part.type === 'text' ? [part] : []));
  t.equal(textOf(parts), 'Grüße an a');
  for (const part of spoken) {
    const [logprob] = part.logprobs ?? [];
    t.equal(logprob?.token, part.text);
    t.same(logprob?.bytes, [...Buffer.from(part.text)]);
    t.equal(logprob?.top_logprobs.length, 5);
    t.equal(new Set(logprob?.top_logprobs.map((one) => one.token)).size, 5);
    const sum = logprob?.top_logprobs.reduce((total, one) => total + Math.exp(one.logprob), 0) ?? 2;
    t.ok(sum <= 1 && sum > 0.5, `probabilities add up to ${sum}`);
  }
  const plain = run(callOf(question)).parts;
  const detailed = run(callOf(question, { logprobs: { top: 0 } })).parts;
  t.equal(textOf(detailed), textOf(plain));
  t.same(
    detailed.flatMap((part) => (part.type === 'text' ? [part.logprobs?.[0]?.top_logprobs] : [])).flat(),
    [],
  );
});

t.test('reasoning comes first, as long as effort and budget say', async (t) => {
  const effort = (level: ChatCall['thinking']['effort'], budget?: number) =>
    run(callOf(question, { thinking: { effort: level, budget } }), thinkingModel).parts;
  const lengths = (['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'ultra'] as const).map(
    (level) => usageOf(effort(level))?.reasoning,
  );
  t.same(lengths, [0, 8, 16, 32, 64, 96, 128, 192]);
  const parts = effort(undefined);
  t.equal(countTokens(thoughtOf(parts)), 32);
  t.ok(
    parts.findLastIndex((part) => part.type === 'reasoning') <
      parts.findIndex((part) => part.type === 'text'),
  );
  t.equal(textOf(parts), textOf(run(callOf(question)).parts), 'the answer is the same without it');
  t.equal(usageOf(effort('high', 10))?.reasoning, 10, 'a budget is kept');
  t.equal(usageOf(run(callOf(question)).parts)?.reasoning, 0, 'a plain model does not think');
  const unenforced = { reasoning: { mandatory: true } };
  const call = callOf(question, { thinking: { effort: 'none', budget: 5 } });
  t.equal(usageOf(run(call, unenforced).parts)?.reasoning, 32, 'mandatory thinking, budget not enforced');
  const optional = { reasoning: { mandatory: false, default_enabled: false } };
  t.equal(usageOf(run(callOf(question), optional).parts)?.reasoning, 0);
  t.equal(usageOf(run(callOf(`/sim reasoning=5\n${question}`), plainModel).parts)?.reasoning, 5);
  t.equal(usageOf(run(callOf(`/sim reasoning=0\n${question}`), thinkingModel).parts)?.reasoning, 0);
});

t.test('reasoning counts towards the token limit', async (t) => {
  const { parts } = run(callOf(question, { maxTokens: 20 }), thinkingModel);
  t.same(usageOf(parts), { prompt: 16, completion: 20, cached: 0, reasoning: 20 });
  t.equal(textOf(parts), '');
  t.match(finishOf(parts), { reason: 'length' });
});

t.test('a truncated response is continued to the same whole', async (t) => {
  const whole = textOf(
    run(callOf(`/sim tokens=60\n${question}`, { sampling: { seed: 3 } }), thinkingModel).parts,
  );
  const asked = userSays(`/sim tokens=60\n${question}`);
  let text = '';
  for (const maxTokens of [7, 1, 20, 100]) {
    const messages: ChatMessage[] = text === '' ? [asked] : [asked, assistant(text)];
    const over = { maxTokens, sampling: { seed: 3 }, continueFinal: text !== '' };
    const { parts } = run(callOf(messages, over));
    text += textOf(parts);
    t.ok(whole.startsWith(text), text);
    t.equal(usageOf(parts)?.reasoning, 0);
  }
  t.equal(text, whole);
  const inside = run(
    callOf([asked, assistant(whole.slice(0, 9))], { continueFinal: true, sampling: { seed: 3 } }),
  );
  t.equal(whole.slice(0, 9) + textOf(inside.parts), whole, 'also from the middle of a word');
});

t.test('foreign text is continued as well', async (t) => {
  const messages = [userSays(question), assistant('The best part of it is')];
  const { parts } = run(callOf(messages, { continueFinal: true }), thinkingModel);
  t.match(textOf(parts), /^ [a-z]/);
  t.equal(usageOf(parts)?.reasoning, 0);
});

t.test('a thought that was cut is carried on, and what comes after it', async (t) => {
  const asked = userSays('/sim reasoning=12\nHow do tides work?');
  const thinking = { effort: 'low', budget: 12 } as const;
  const whole = run(callOf([asked], { thinking }), thinkingModel).parts;
  const thought = thoughtOf(whole);
  for (let cut = 1; cut < 12; cut++) {
    const before = [...splitTokens(thought)].slice(0, cut).join('');
    const messages = [asked, assistant(`<think>\n${before}`)];
    const left = { effort: 'low', budget: 12 - cut } as const;
    const { parts } = run(callOf(messages, { continueFinal: true, thinking: left }), thinkingModel);
    t.equal(before + thoughtOf(parts), thought);
    t.equal(textOf(parts), textOf(whole));
    t.equal(usageOf(parts)?.reasoning, 12 - cut);
  }
  const over = run(
    callOf([asked, assistant('<think>\nSomebody else thinks')], { continueFinal: true }),
    thinkingModel,
  ).parts;
  t.equal(thoughtOf(over), '', 'thinking that is not its own is over');
  t.equal(textOf(over), textOf(whole));
});

t.test('faults are where they would be in an answer that is not continued', async (t) => {
  const asked = userSays('/sim tokens=20 drop@8\nHow do tides work?');
  const broken = run(callOf([asked])).parts;
  t.match(broken.at(-1), { type: 'failure' });
  const [first, rest] = [textOf(broken), [...splitTokens(textOf(broken))].slice(0, 3).join('')];
  const again = run(callOf([asked, assistant(rest)], { continueFinal: true })).parts;
  t.equal(rest + textOf(again), first, 'not reached yet');
  t.match(again.at(-1), { type: 'failure' });
  const on = run(callOf([asked, assistant(first)], { continueFinal: true })).parts;
  t.match(finishOf(on), { reason: 'stop' }, 'not twice');
  t.equal(countTokens(first + textOf(on)), 20);
});

t.test('the response mentions media and tool results', async (t) => {
  const image = { type: 'image', mediaType: 'image/png', base64: 'A'.repeat(16_000) } as const;
  const clip = { type: 'audio', mediaType: 'audio/wav', base64: 'AAA=' } as const;
  const asked = {
    role: 'user',
    content: [{ type: 'text', text: 'Describe these' }, image, clip],
  } as const;
  const { parts } = run(callOf([asked]));
  t.match(textOf(parts), 'You sent an image of 12 kB, image/png and an audio clip of 2 bytes, audio/wav.');
  const result = run(
    callOf(
      [
        userSays('What is the weather in Paris?'),
        {
          role: 'assistant',
          content: [],
          toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: '{}' }],
        },
        { role: 'tool', callId: 'call_1', content: [{ type: 'text', text: '{"celsius": 21}' }] },
      ],
      { tools: [weather] },
    ),
  );
  t.match(textOf(result.parts), 'According to get_weather: {"celsius": 21}.');
  t.match(finishOf(result.parts), { reason: 'stop' });
});

const weather: Tool = {
  name: 'get_weather',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1, maximum: 14 } },
    required: ['city'],
  },
};
const clock: Tool = { name: 'lookupTime', parameters: {} };
const bare: Tool = { name: 'restart' };

t.test('tools are called when the question or the choice says so', async (t) => {
  const calls = (text: string, over: Partial<ChatCall> = {}) => {
    const { parts } = run(callOf(text, { tools: [weather, clock, bare], ...over }));
    const names = parts.flatMap((part) => (part.type === 'tool-call' ? [part.name] : []));
    return { parts, names, values: names.map((_, index) => argumentsOf(parts, index)) };
  };
  const auto = calls('What is the weather in Paris for 3 days?');
  t.same(auto.names, ['get_weather']);
  t.same(auto.values, ['{"city":"Paris","days":3}']);
  t.equal(textOf(auto.parts), '');
  t.match(finishOf(auto.parts), { reason: 'tool_calls', native: 'tool_calls' });
  t.match(auto.parts[0], { type: 'tool-call', choice: 0, call: 0, id: /^call_[0-9a-f]{24}$/ });
  t.equal(usageOf(auto.parts)?.completion, countTokens(auto.values[0] ?? ''));
  t.same(calls('Tell me a joke').names, []);
  t.same(calls('What is the weather?', { toolChoice: 'none' }).names, []);
  t.same(calls('What is the time?').names, ['lookupTime']);
  t.equal(calls('Tell me a joke', { toolChoice: 'required' }).names.length, 1);
  t.same(calls('What is the time?', { toolChoice: { name: 'restart' } }).names, ['restart']);
  t.same(calls('What is the time?', { toolChoice: { name: 'restart' } }).values, ['{}']);
  t.same(calls('/sim tool=get_weather\nhi').names, ['get_weather']);
  const both = calls('/sim tool=get_weather calls=2\nThe weather in Paris and in Rome?');
  t.same(
    both.values.map((value) => JSON.parse(value).city),
    ['Paris', 'Rome'],
  );
  t.equal(new Set(both.parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : []))).size, 2);
  t.same(calls('/sim calls=3\nhi', { parallelToolCalls: false }).names.length, 1);
  t.same(calls('/sim text="Let me see." tool=restart').names, ['restart']);
  t.equal(textOf(calls('/sim text="Let me see." tool=restart').parts), 'Let me see.');
  t.match(finishOf(calls('What is the weather?', { maxTokens: 2 }).parts), { reason: 'length' });
  t.match(run(callOf('/sim tool=fly\nhi', { tools: [bare] })).error, {
    kind: 'invalid_request',
    message: 'messages: /sim tool names no tool of this request: "fly"',
  });
});

t.test('a tool is called once on request, always on a forced choice', async (t) => {
  const messages: ChatMessage[] = [
    userSays('/sim tool=restart\nhi'),
    { role: 'assistant', content: [], toolCalls: [{ id: 'call_1', name: 'restart', arguments: '{}' }] },
    { role: 'tool', callId: 'call_1', content: [{ type: 'text', text: 'done' }] },
  ];
  t.match(textOf(run(callOf(messages, { tools: [bare] })).parts), 'According to restart: done.');
  const forced = run(callOf(messages, { tools: [bare], toolChoice: 'required' }));
  t.match(finishOf(forced.parts), { reason: 'tool_calls' });
});

t.test('JSON responses', async (t) => {
  const object = run(callOf(question, { format: { type: 'json_object' } })).parts;
  t.same(Object.keys(JSON.parse(textOf(object))), ['topics', 'answer']);
  const schema = { type: 'object', properties: { size: { enum: [1, 2] } }, required: ['size'] };
  const { parts } = run(callOf(question, { format: { type: 'json_schema', name: 'size', schema } }));
  t.match(JSON.parse(textOf(parts)).size, /^[12]$/);
  t.match(finishOf(parts), { reason: 'stop' });
  const impossible = run(
    callOf(question, { format: { type: 'json_schema', name: 'no', schema: { enum: [] } } }),
  );
  t.match(impossible.error, {
    kind: 'invalid_request',
    message: /^response_format\.json_schema\.schema has no enum value/,
  });
  const tool = { name: 'odd', parameters: { type: 'string' } };
  const wrong = run(
    callOf('x', { tools: [{ ...tool, parameters: { minProperties: 5000 } }], toolChoice: 'required' }),
  );
  t.match(wrong.error, { message: 'tools[0].function.parameters asks for more than 2000 properties' });
});
