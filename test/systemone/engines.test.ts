/** Tests decision engines over HTTP: scored continuations, server variants, failures and chained gateways. */
import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import type { DecisionsResponse } from '../../schemas/systemone.ts';
import { continuationWire } from '../../src/engines/wires/openai/score.ts';
import { startPosting } from '../embeddings/posting.ts';
import { type ReceivedRequest, type Script, startScriptedEngine } from '../engines/scripted-engine.ts';
import { eventually } from '../eventually.ts';
import { onlyLong } from '../long.ts';

interface Asked {
  readonly prompt: readonly string[];
}

const asked = ({ body }: ReceivedRequest): Asked => JSON.parse(body);

/** Words with the space before them, line ends alone: near enough to what vocabularies do. */
const tokensOf = (text: string): string[] => text.match(/\n| ?[^\s]+| /g) ?? [];

interface Scoring {
  /** Log-probability of the last word of a prompt. */
  score(label: string, prompt: string): number;
  /** The token it makes of its own; undefined for a server that makes none. */
  readonly made?: string | undefined;
  /** How it writes a token. */
  written?(token: string): string;
}

/** As vLLM echoes prompts. */
const choicesOf = ({ prompt }: Asked, { score, made, written = (token) => token }: Scoring) =>
  prompt.map((text, index) => {
    const tokens = tokensOf(text);
    const last = tokens.findLastIndex((token) => token.trim() !== '');
    const all = made === undefined ? tokens : [...tokens, made];
    return {
      index,
      text: text + (made ?? ''),
      logprobs: {
        text_offset: all.map((_, at) => at),
        token_logprobs: all.map((token, at) =>
          at === 0 ? null : at === last ? score(token.trim(), text) : -0.5,
        ),
        tokens: all.map(written),
        top_logprobs: all.map((token) => ({ [token]: -1, '"]}': -2 })),
      },
      finish_reason: 'length',
      prompt_logprobs: null,
    };
  });

const scoring =
  (rules: Scoring): Script =>
  (request) => {
    const choices = choicesOf(asked(request), rules);
    request.json(200, {
      id: 'cmpl-1',
      object: 'text_completion',
      choices,
      usage: { prompt_tokens: 999, completion_tokens: choices.length },
    });
  };

/** The second answer is e times as likely as the first, the third as the second … */
const rising = (label: string): number => {
  const number = Number(label);
  if (label === 'yes') return -1;
  if (label === 'no') return -2;
  return (Number.isNaN(number) ? label.charCodeAt(0) - 64 : number) - 300;
};
const usual = scoring({ score: rising, made: ' The' });

const start = async (t: Test, script: Script = usual, model = '') => {
  const far = await startScriptedEngine(script);
  const posting = await startPosting<DecisionsResponse>({
    catalog: `
engines:
  far: { wire: openai, replicas: ['${far.url}'] }
models:
  far/decide: { kind: decision, engine: far, served_as: scorer, context_length: 30000, pricing: { prompt: '0.000001' } ${model} }
`,
  });
  t.teardown(async () => {
    await posting.gateway.stop();
    await far.close();
  });
  const ask = (questions: unknown, state: unknown = 'The parcel arrived broken') =>
    posting.post('/systemone', { model: 'far/decide', state, questions });
  return { ...posting, far, ask };
};

const noul = { type: 'noul', instructions: 'Broken?' };
const choice = { type: 'choice', instructions: 'Which?', criteria: { a: 'first', b: null, c: 'last' } };
const levels = (count: number) => ({
  type: 'score',
  instructions: 'How?',
  criteria: Array.from({ length: count }, (_, index) => `level ${index + 1}`),
});
const near = (one: number | undefined, other: number) => one !== undefined && Math.abs(one - other) < 1e-9;
const [e, total] = [Math.E, 1 + Math.E + Math.E ** 2];

t.test('answers are scored as continuations of one prompt', async (t) => {
  const { ask, far, events } = await start(t);
  const said = await ask({ yes: noul, which: choice, much: levels(3) });
  t.equal(said.status, 200);
  const { yes, which, much } = said.body.answers;
  t.ok(yes?.type === 'noul' && near(yes.noul, e / (e + 1)));
  t.ok(which?.type === 'choice' && which.choice === 'c' && near(which.probabilities.c, e ** 2 / total));
  t.ok(which?.type === 'choice' && near(which.confidence, ((3 * e ** 2) / total - 1) / 2));
  t.ok(much?.type === 'score' && near(much.score, (1 + 2 * e + 3 * e ** 2) / total));

  const bodies = far.requests.map((request) => JSON.parse(request.body));
  t.equal(bodies.length, 3, 'one request a question');
  for (const body of bodies)
    t.same(
      { ...body, prompt: [] },
      { model: 'scorer', prompt: [], echo: true, logprobs: 1, max_tokens: 1, temperature: 0 },
    );
  const prompts: readonly string[][] = bodies.map(({ prompt }) => prompt);
  const context =
    'Read the state, then answer the question about it.\n\nState:\nThe parcel arrived broken\n\n';
  t.ok(
    prompts.flat().every((prompt) => prompt.startsWith(context)),
    'what they share comes first',
  );
  t.same(
    prompts.find((each) => each[0]?.includes('Broken?')),
    [
      `${context}Question: Broken?\nAnswer yes or no.\nAnswer: yes`,
      `${context}Question: Broken?\nAnswer yes or no.\nAnswer: no`,
    ],
  );
  t.equal(
    prompts.find((each) => each[0]?.includes('Which?'))?.[2],
    `${context}Question: Which?\nOptions:\nA. a: first\nB. b\nC. c: last\nAnswer with the sign before the best option.\nAnswer: C`,
  );
  t.equal(
    prompts.find((each) => each[0]?.includes('How?'))?.[0],
    `${context}Question: How?\nLevels, lowest first:\n1. level 1\n2. level 2\n3. level 3\nAnswer with the number of the level that fits.\nAnswer: 1`,
  );

  const counted = prompts.map(([prompt = '']) => tokensOf(prompt).length - 1);
  const tokens = counted.reduce((sum, count) => sum + count, 0);
  t.same(
    said.body.usage,
    { input_tokens: tokens, output_tokens: 0 },
    "each prompt once, by the engine's own count",
  );
  t.match(events.at(-1), { quantities: { prompt_tokens: tokens, inputs: 3 }, outcome: 'completed' });
});

t.test('token formats of servers', async (t) => {
  const habits: readonly (readonly [name: string, rules: Scoring])[] = [
    ['none of their own', { score: rising, made: undefined }],
    ['one that ends all', { score: rising, made: '' }],
    ['one that is a label', { score: rising, made: ' C' }],
    [
      'raw words',
      {
        score: rising,
        made: '\u0120The',
        written: (token) => token.replace(/ /g, '\u0120').replace(/\n/g, '\u010a'),
      },
    ],
    [
      'other raw words',
      {
        score: rising,
        made: '\u2581The',
        written: (token) => token.replace(/ /g, '\u2581').replace(/\n/g, '<0x0A>'),
      },
    ],
    ['no spaces', { score: rising, made: 'The', written: (token) => token.trim() }],
  ];
  const { ask, far } = await start(t);
  for (const [name, rules] of habits) {
    far.script = scoring(rules);
    const said = await ask({ which: choice, ten: levels(10) });
    const { which, ten } = said.body.answers ?? {};
    t.ok(which?.type === 'choice' && near(which.probabilities.c, e ** 2 / total), name);
    t.ok(
      ten?.type === 'score' &&
        near((ten.probabilities['10'] ?? 0) / (ten.probabilities['1'] ?? 0) / e ** 9, 1),
      name,
    );
  }
  far.script = (request) => {
    const choices = choicesOf(asked(request), { score: rising, made: ' x' }).reverse();
    request.json(200, JSON.stringify({ choices }, null, 1));
  };
  const said = await ask({ which: choice });
  t.match(said.body.answers, { which: { choice: 'c' } }, 'in any order');
});

t.test('a recorded echo of vLLM', async (t) => {
  const echo = readFileSync(new URL('../fixtures/openai/vllm-recorded-echo.json', import.meta.url));
  const label = (letter: string) => ({ label: ` ${letter}`, name: letter, description: undefined });
  const readCutAt = (at: number) => {
    const decoder = continuationWire.decode([label('A'), label('B')]);
    decoder.push(echo.subarray(0, at));
    decoder.push(echo.subarray(at));
    return JSON.stringify(decoder.end());
  };
  const space = -5.39654541015625;
  const logprobs = [space - 6.073196887969971, space - 9.765748023986816];
  const cuts = Array.from({ length: echo.length + 1 }, (_, at) => readCutAt(at));
  t.same([...new Set(cuts)], [JSON.stringify({ logprobs, tokens: 12 })], 'cut at every byte');
});

t.test('a space before an answer counts where it is a token of its own', async (t) => {
  const echo = (...tail: readonly (readonly [token: string, logprob: number])[]) => {
    const all = [['Question', null], [':', -3], ...tail, [' The', -9]] as const;
    return { tokens: all.map(([token]) => token), token_logprobs: all.map(([, logprob]) => logprob) };
  };
  const { ask } = await start(t, (request) =>
    request.json(200, {
      choices: [echo([' yes', -2]), echo([' ', -1], ['no', -1])].map((logprobs, index) => ({
        index,
        logprobs,
      })),
    }),
  );
  const said = await ask({ yes: noul });
  t.same(said.body.answers, { yes: { type: 'noul', noul: 0.5 } });
  t.same(said.body.usage, { input_tokens: 2, output_tokens: 0 });
});

t.test('255 options', { skip: onlyLong }, async (t) => {
  const { ask, far } = await start(t);
  const options = (count: number) => ({
    type: 'choice',
    instructions: 'Which?',
    criteria: Object.fromEntries(Array.from({ length: count }, (_, index) => [`option ${index + 1}`, null])),
  });
  const few = await ask({ it: options(255) });
  t.match(few.body.answers, { it: { choice: 'option 255' } });
  t.equal(far.requests.length, 1, 'in one request');
  t.ok(
    asked(far.requests[0] as ReceivedRequest).prompt[24]?.endsWith('Answer: 25\n'),
    'closed, so that 25 does not begin 255',
  );
  t.match((await ask({ it: options(26) })).body.answers, { it: { choice: 'option 26' } });
  t.ok(asked(far.requests[1] as ReceivedRequest).prompt[25]?.endsWith('Answer: Z'));

  const long = await ask({ it: options(255) }, 'words '.repeat(5_000));
  t.match(long.body.answers, { it: { choice: 'option 255' } });
  const requests = far.requests.slice(2);
  t.ok(requests.length > 4 && requests.length < 20, `a long state in ${requests.length} requests`);
  t.ok(requests.every((request) => request.body.length < 1_200_000));
  t.ok(long.body.usage.input_tokens < 7_000, 'paid for once');
});

t.test('a few questions at once', async (t) => {
  let running = 0;
  let most = 0;
  const { ask } = await start(t, async (request) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running--;
    await usual(request);
  });
  const questions = Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`q${index}`, noul]));
  const said = await ask(questions);
  t.equal(said.status, 200);
  t.equal(Object.keys(said.body.answers).length, 64);
  t.ok(most <= 4 && most > 1, `${most} at once`);
});

t.test('failures', async (t) => {
  const { ask, far, events } = await start(t);
  const unreadable = 'The engine sent an answer that cannot be read';
  const choices =
    (change: (choice: ReturnType<typeof choicesOf>[number]) => unknown): Script =>
    (request) =>
      request.json(200, { choices: choicesOf(asked(request), { score: rising, made: ' x' }).map(change) });
  const failures: readonly (readonly [name: string, status: number, message: string, script: Script])[] = [
    ['no log-probabilities', 502, unreadable, choices((each) => ({ ...each, logprobs: null }))],
    ['those of chat', 502, unreadable, choices((each) => ({ ...each, logprobs: { content: [] } }))],
    [
      'only of what it made',
      502,
      unreadable,
      choices((each) => ({ ...each, logprobs: { tokens: [' x'], token_logprobs: [-1] } })),
    ],
    [
      'null for a token',
      502,
      unreadable,
      choices((each) => ({
        ...each,
        logprobs: { ...each.logprobs, token_logprobs: each.logprobs.tokens.map(() => null) },
      })),
    ],
    [
      'too few',
      502,
      unreadable,
      (request) => request.json(200, { choices: choicesOf(asked(request), { score: rising }).slice(1) }),
    ],
    ['no JSON', 502, unreadable, (request) => request.json(200, 'oh')],
    ['busy', 529, 'The model is busy, try again', (request) => request.json(503, {})],
    ['too many', 529, 'The model is busy, try again', (request) => request.json(429, {})],
    ['at fault', 502, 'The engine could not answer', (request) => request.json(500, {})],
    ['gone', 502, 'The engine could not be reached', (request) => request.reset()],
    [
      'too long',
      422,
      "This model's maximum context length is 4096 tokens.",
      (request) =>
        request.json(400, { error: { message: "This model's maximum context length is 4096 tokens." } }),
    ],
    ['late', 502, 'The engine did not answer in time', (request) => request.json(504, {})],
  ];
  for (const [name, status, message, script] of failures) {
    far.script = script;
    const said = await ask({ which: choice });
    t.equal(said.status, status, name);
    t.equal(said.body.error?.message, message, name);
    t.match(events.at(-1), { outcome: 'failed', status, cost: '0' }, name);
    far.script = usual;
    t.equal((await ask({ yes: noul })).status, 200, `well again after: ${name}`);
  }
});

t.test('questions end together', async (t) => {
  const { far, events, post } = await start(t, () => undefined);
  const questions = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`q${index}`, noul]));
  const leaving = new AbortController();
  const said = post('/systemone', { model: 'far/decide', state: 'x', questions }, leaving.signal);
  await eventually(() => far.requests.length === 4, 'four are asked');
  leaving.abort();
  await t.rejects(said);
  await Promise.all(far.requests.map((request) => request.gone));
  await eventually(() => events.length === 1, 'one event');
  t.match(events[0], { outcome: 'cancelled', status: 499, cost: '0' });
});

t.test('chained gateways', async (t) => {
  const inner = await startPosting<DecisionsResponse>();
  const outer = await startPosting<DecisionsResponse>({
    catalog: `
engines:
  inner: { wire: openai, replicas: ['${inner.gateway.url}'], headers: { authorization: 'Bearer ${inner.gateway.key}' } }
models:
  outer/decide: { kind: decision, engine: inner, served_as: sluice/decide, context_length: 16384, capabilities: { decision: { asked_by: systemone } } }
`,
  });
  t.teardown(async () => {
    await outer.gateway.stop();
    await inner.gateway.stop();
  });
  const questions = {
    'is it?': noul,
    meant: { ...noul, criteria: { true: 'something is broken', false: { all: 'well' } } },
    which: choice,
    much: { type: 'score', instructions: ['How?'], criteria: ['little', { much: true }, 'all'] },
  };
  const state = { parcel: 'arrived broken', first: true };
  const direct = await inner.post('/systemone', { model: 'sluice/decide', state, questions });
  const through = await outer.post('/systemone', { model: 'outer/decide', state, questions });
  t.equal(through.status, 200);
  t.same(Object.keys(through.body.answers), Object.keys(direct.body.answers));
  for (const [id, answer] of Object.entries(direct.body.answers)) {
    const other = through.body.answers[id];
    t.equal(other?.type, answer.type);
    if (answer.type === 'noul') t.ok(other?.type === 'noul' && near(other.noul, answer.noul), id);
    else
      for (const [name, probability] of Object.entries(answer.probabilities))
        t.ok(
          other !== undefined && 'probabilities' in other && near(other.probabilities[name], probability),
          `${id}.${name}`,
        );
  }
  t.match(through.body.answers, { which: { choice: 'a' }, much: { legend: { 2: { much: true } } } });
  t.same(through.body.usage, direct.body.usage);
  t.equal(outer.events.at(-1)?.quantities.prompt_tokens, inner.events.at(-1)?.quantities.prompt_tokens);
  const busy = await outer.post('/systemone', {
    model: 'outer/decide',
    state: '/sim fail=503\nx',
    questions,
  });
  t.equal(busy.status, 529);
});
