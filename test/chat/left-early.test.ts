/** Clients that leave right before the usage event pay for the tokens that they were sent. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import * as cl100k from 'gpt-tokenizer/encoding/cl100k_base';
import * as o200k from 'gpt-tokenizer/encoding/o200k_base';
import t, { type Test } from 'tap';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { splitTokens } from '../../src/tokens/simulator.ts';
import { eventually } from '../eventually.ts';
import { someOf } from '../long.ts';
import { sse, startEngine, watchedGateway } from './watched-gateway.ts';

const source = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const chinese =
  '人工智能正在改变我们的生活方式。从智能手机到自动驾驶汽车，机器学习模型已经深入到各个领域，帮助人们更高效地完成工作；' +
  '然而，它也带来了隐私、就业与伦理方面的挑战。研究人员认为，未来十年内，大型语言模型将会成为软件开发的重要工具。';
const texts = {
  English: source('LICENSE').slice(0, 6000),
  Chinese: `${chinese}\n`.repeat(12),
  code: source('src/http/response.ts').slice(0, 6000),
  mixed:
    `# ${chinese}\n\n\`\`\`ts\n${source('src/helpers/backoff.ts')}\`\`\`\nAnd so on, "naïve" café – 42 × 1.5.\n`.repeat(
      2,
    ),
  Japanese:
    '東京は日本の首都であり、世界最大の都市圏の一つです。毎日多くの人々が電車で通勤しています。'.repeat(20),
  short: 'Hello there, how are you today?',
};

type Tokenizer = (text: string) => readonly string[];

/** Bytes of a character may be spread over tokens: such tokens come together, as engines send them. */
const tokensOf = ({ encode, decode }: typeof o200k): Tokenizer => {
  return (text) => {
    const pieces: string[] = [];
    let held: number[] = [];
    for (const token of encode(text)) {
      held.push(token);
      const piece = decode(held);
      if (piece.includes('\ufffd')) pieces.push('');
      else {
        pieces.push(piece);
        held = [];
      }
    }
    return pieces;
  };
};

/** Events of so many tokens each, as an engine sends them. */
const eventsOf = (tokens: readonly string[], each: number, event: (piece: string) => string): string[] => {
  const list: string[] = [];
  for (let at = 0; at < tokens.length; at += each) {
    const piece = tokens.slice(at, at + each).join('');
    if (piece !== '') list.push(event(piece));
  }
  return list;
};

const asReasoning = (piece: string) =>
  sse.text('x').replace('"content":"x"', `"reasoning_content":${JSON.stringify(piece)}`);
const asArguments = (piece: string) =>
  sse
    .text('x')
    .replace(
      '"content":"x"',
      `"tool_calls":[{"index":0,"id":"call_1","function":{"name":"look","arguments":${JSON.stringify(piece)}}}]`,
    );

interface Answer {
  readonly events: readonly string[];
  /** Sent at the end; without it the engine keeps its last events back until the client leaves. */
  readonly usage?: number;
}

interface Asked {
  readonly path?: string;
  readonly body?: object;
}

/** An engine that plays what it is given, and a gateway in front of it. */
const startPair = async (t: Test, model = '') => {
  let answer: Answer = { events: [] };
  const engine = await startEngine((response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(answer.events.join(''));
    if (answer.usage === undefined) return;
    const usage = { prompt_tokens: 5, completion_tokens: answer.usage, total_tokens: 5 + answer.usage };
    response.end(`${sse.finish}data: ${JSON.stringify({ id: 'x', choices: [], usage })}\n\n${sse.done}`);
  });
  const { gateway, events: recorded } = await watchedGateway(engine.url, { model });
  t.teardown(async () => {
    await gateway.stop();
    await engine.stop();
  });

  const send = async ({ path = '/chat/completions', body = {} }: Asked) => {
    const sent = request(`${gateway.url}${path}`, {
      method: 'POST',
      agent: false,
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    });
    sent.on('error', () => undefined);
    const messages = [{ role: 'user', content: 'Hi' }];
    sent.end(JSON.stringify({ model: 'far/chat', messages, max_tokens: 100_000, stream: true, ...body }));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.on('error', () => undefined);
    return { sent, response: response.setEncoding('utf8') };
  };

  return {
    /** Reads until so many events of the engine have come through, and leaves. */
    leave: async (next: Answer, asked: Asked = {}) => {
      answer = next;
      const before = recorded.length;
      const { sent, response } = await send(asked);
      let text = '';
      for await (const piece of response) {
        text += piece;
        if (text.split(mark).length > next.events.length) break;
      }
      sent.destroy();
      await eventually(() => recorded.length > before, 'usage is recorded');
      const event = recorded[before];
      if (event === undefined) throw new Error('no event');
      return event;
    },
    finish: async (next: Answer, asked: Asked = {}) => {
      answer = next;
      const { response } = await send(asked);
      for await (const _ of response);
    },
  };
};

/** In every event that carries text. */
const mark = '"object":"chat.completion.chunk"';

/** Never more than was generated, and at most two percent less. */
const near = (t: Test, event: UsageEvent, generated: number, name: string): void => {
  const { completion_tokens: billed } = event.quantities;
  t.ok(billed <= generated && billed >= Math.floor(generated * 0.98), `${name}: ${billed} of ${generated}`);
  t.match(event, { outcome: 'cancelled', status: 499, generated_tokens: billed, delivered_tokens: billed });
};

const tokenizers: Readonly<Record<string, Tokenizer>> = {
  o200k_base: tokensOf(o200k),
  cl100k_base: tokensOf(cl100k),
  simulator: (text) => [...splitTokens(text)],
};

for (const [tokenizer, tokenize] of someOf(Object.entries(tokenizers), 2))
  t.test(`1, 3 and 8 tokens an event, ${tokenizer}`, async (t) => {
    for (const [language, text] of someOf(Object.entries(texts), 2)) {
      // Each on a gateway that has learnt nothing: no response finishes here.
      const { leave } = await startPair(t, `, tokenizer: ${tokenizer}`);
      const tokens = tokenize(text);
      for (const each of [1, 3, 8]) {
        const event = await leave({ events: eventsOf(tokens, each, sse.text) });
        near(t, event, tokens.length, `${language}, ${each} an event`);
      }
    }
  });

t.test('reasoning, tool calls, several answers and other formats', async (t) => {
  const { leave } = await startPair(t, ', reasoning: { mandatory: false }');
  const tokens = tokensOf(o200k)(texts.English);
  const chineseTokens = tokensOf(o200k)(texts.Chinese);

  const both = await leave({
    events: [...eventsOf(tokens, 8, asReasoning), ...eventsOf(chineseTokens, 5, sse.text)],
  });
  near(t, both, tokens.length + chineseTokens.length, 'reasoning and text');
  const { reasoning_tokens: reasoning } = both.quantities;
  t.ok(reasoning <= tokens.length && reasoning >= tokens.length * 0.98, `${reasoning} of ${tokens.length}`);

  const object = JSON.stringify({ text: texts.Chinese, lines: texts.code.split('\n') });
  const written = tokensOf(o200k)(object);
  near(t, await leave({ events: eventsOf(written, 6, asArguments) }), written.length, 'arguments');

  const asSecond = (piece: string) => sse.text(piece).replace('"index":0', '"index":1');
  const [one, other] = [eventsOf(tokens, 4, sse.text), eventsOf(chineseTokens, 4, asSecond)];
  const mixed = one.flatMap((event, at) => [event, ...(other[at] === undefined ? [] : [other[at]])]);
  const sent = mixed.length - one.length;
  near(
    t,
    await leave({ events: mixed }, { body: { n: 2 } }),
    tokens.length + tokensOf(o200k)(texts.Chinese).slice(0, sent * 4).length,
    'two answers, interleaved',
  );
});

t.test('counts that an engine sends along are taken', async (t) => {
  const { leave } = await startPair(t);
  const tokens = tokensOf(o200k)(texts.English);
  // Of a vocabulary that nobody could guess.
  const counting = (piece: string, at: number) =>
    sse
      .text(piece)
      .replace('"choices"', `"usage":{"prompt_tokens":11,"completion_tokens":${(at + 1) * 7}},"choices"`);
  const events = eventsOf(tokens, 8, sse.text).map((_, at) =>
    counting(tokens.slice(at * 8, at * 8 + 8).join(''), at),
  );
  t.match((await leave({ events })).quantities, {
    prompt_tokens: 11,
    completion_tokens: events.length * 7,
  });
  // What came after the last count is counted here.
  const rest = eventsOf(tokens.slice(0, 400), 8, sse.text);
  const { completion_tokens: billed } = (await leave({ events: [...events, ...rest] })).quantities;
  const generated = events.length * 7 + 400;
  t.ok(billed <= generated && billed >= generated * 0.98, `${billed} of ${generated}`);

  const logprobs = (piece: string) =>
    sse
      .text(piece)
      .replace(
        '"finish_reason"',
        `"logprobs":{"content":${JSON.stringify([1, 2, 3, 4, 5].map((one) => ({ token: `${one}`, logprob: -1 })))}},"finish_reason"`,
      );
  const listed = eventsOf(tokens, 8, logprobs);
  t.equal((await leave({ events: listed })).quantities.completion_tokens, listed.length * 5);
});

t.test('finished responses teach what a foreign vocabulary counts', async (t) => {
  // The row says o200k; the engine counts with cl100k, which takes 1.8 times as many for Chinese.
  const { leave, finish } = await startPair(t);
  const tokenize = tokensOf(cl100k);
  const halves = [texts.Chinese.slice(0, 700), texts.English.slice(0, 3000), texts.code.slice(0, 3000)];
  for (let round = 0; round < 2; round += 1)
    for (const half of halves) {
      const tokens = tokenize(half);
      await finish({ events: eventsOf(tokens, 4, sse.text), usage: tokens.length + 1 });
      // Texts are counted one after the other: when this one is, the one before it was learnt from.
      await leave({ events: [sse.text('Hello')] });
    }
  for (const language of ['Chinese', 'English', 'code'] as const) {
    const tokens = tokenize(texts[language].slice(700));
    near(t, await leave({ events: eventsOf(tokens, 3, sse.text) }), tokens.length, language);
  }
});
