/** Tests that the simulator gives the same parts directly and over HTTP with every engine quirk. */
import t from 'tap';
import type { ChatCall } from '../../src/ports/engines/chat.ts';
import type { Engine } from '../../src/ports/engines/engine.ts';
import { quirkNames } from '../../src/simulator/server/quirks.ts';
import { startSimulatorServer } from '../../src/simulator/server/server.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { readable, thinker } from '../wires/samples.ts';
import { Collected, engineOn } from './collect.ts';

const rate = Number.POSITIVE_INFINITY;
const text = (words: string): ChatCall['messages'] => [
  { role: 'user', content: [{ type: 'text', text: words }] },
];
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

const unthinking: ChatCall['thinking'] = { effort: 'none', budget: undefined };

const calls: Record<string, Partial<ChatCall>> = {
  'plain text': { messages: text('/sim tokens=12\nGrüße 👋') },
  thinking: {
    messages: text('/sim tokens=6 reasoning=5\nWhy?'),
    thinking: { effort: 'high', budget: undefined },
  },
  'tool calls': {
    messages: text('What is the weather?'),
    tools: [{ name: 'get_weather', parameters }],
    toolChoice: { name: 'get_weather' },
  },
  'two answers': { messages: text('/sim tokens=5\nHello'), n: 2 },
  logprobs: { messages: text('/sim tokens=4\nHello'), logprobs: { top: 2 } },
  'cut short': { messages: text('/sim tokens=50\nHello'), maxTokens: 7 },
  'a stop sequence': { messages: text('/sim tokens=50\nHello'), stop: ['e'] },
  'a failure before the first token': { messages: text('/sim fail=503@0\nHello') },
};

/** What the client will have in the end, whichever way it was cut. Ids are new each time, and engines have words of their own for the end. */
const summary = async (engine: Engine, call: Partial<ChatCall>) => {
  const collected = new Collected(engine, call, undefined, thinker);
  const error = await collected.ended;
  const choices: Record<string, unknown>[] = [];
  const ending: unknown[] = [];
  const add = (choice: number, field: string, value: string): void => {
    const own = choices[choice] ?? {};
    choices[choice] = { ...own, [field]: `${own[field] ?? ''}${value}` };
  };
  for (const part of readable(collected.parts)) {
    if (part.type === 'failure') ending.push(part.error.kind);
    else if (part.type === 'usage') {
      if (part.soFar !== true) ending.push(part.usage);
    } else if (part.type === 'finish') add(part.choice, 'finish', `${part.reason} ${part.stopSequence}`);
    else if (part.type === 'tool-call')
      add(part.choice, `call ${part.call}`, `${part.id.slice(0, 5)} ${part.name} `);
    else if (part.type === 'tool-arguments') add(part.choice, `call ${part.call}`, part.text);
    else add(part.choice, part.type, part.text);
    if (part.type === 'text')
      add(
        part.choice,
        'logprobs',
        (part.logprobs ?? []).map((token) => `${JSON.stringify(token)}\n`).join(''),
      );
  }
  return { choices, ending, error: error?.kind };
};

const direct = createSimulator({ rate });
for (const quirk of [undefined, ...quirkNames]) {
  t.test(quirk ?? 'no habit at all', async (t) => {
    const server = await startSimulatorServer({ rate, quirks: quirk === undefined ? [] : [quirk] });
    const subject = engineOn([server.url]);
    for (const [name, call] of Object.entries(calls)) {
      for (const stream of [true, false]) {
        const asked = { thinking: unthinking, ...call, stream };
        const expected = await summary(direct, asked);
        const found = await summary(subject, asked);
        if (quirk === 'bad_event' && stream && expected.error === undefined) {
          t.equal(found.error, 'engine_unreachable', `${name}: a hole is a failure`);
          continue;
        }
        t.strictSame(
          found,
          quirk === 'no_usage' ? { ...expected, ending: [] } : expected,
          `${name}, ${stream ? 'streamed' : 'whole'}`,
        );
      }
    }
    await subject.close();
    await server.close();
  });
}
