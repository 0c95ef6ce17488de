/** Tests the decision route over a real socket: three types, billing, errors and its SDK. */
import { OpenRouter } from '@openrouter/sdk';
import fc from 'fast-check';
import t from 'tap';
import { Compile } from 'typebox/compile';
import { confidence, probabilities } from '../../pipelines/decisions/frame.ts';
import { type DecisionAnswer, DecisionsResponse } from '../../schemas/systemone.ts';
import { costOf } from '../../src/billing/cost.ts';
import { startPosting } from '../embeddings/posting.ts';
import { eventually } from '../eventually.ts';
import { thrownBy } from '../thrown-by.ts';

const { gateway, events, post, refusal } = await startPosting<DecisionsResponse>();
t.teardown(() => gateway.stop());

const model = 'sluice/decide';
const isResponse = Compile(DecisionsResponse);
const noul = { type: 'noul', instructions: 'Does the customer want a refund?' };
const ask = (questions: unknown, fields: object = {}) => ({
  model,
  state: 'The parcel arrived broken',
  questions,
  ...fields,
});
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const isOne = (number: number) => Math.abs(number - 1) < 1e-9;

const answerOf = async (
  question: unknown,
  state: unknown = 'The parcel arrived broken, refund me',
): Promise<DecisionAnswer> => {
  const said = await post('/systemone', ask({ it: question }, { state }));
  if (said.status !== 200) throw new Error(JSON.stringify(said.body));
  const answer = said.body.answers.it;
  if (answer === undefined) throw new Error('no answer');
  return answer;
};

t.test('a response', async (t) => {
  const said = await post('/systemone', {
    model,
    state: { from: 'Ann', message: 'The parcel arrived broken and I want my money back.' },
    questions: {
      refund: { type: 'noul', instructions: 'Does the customer want money back?' },
      topic: {
        type: 'choice',
        instructions: 'What is it about?',
        criteria: { damage: 'a parcel that arrived broken', praise: 'a happy customer', other: null },
      },
      mood: { type: 'score', instructions: 'How happy?', criteria: ['broken', 'fine', 'delighted'] },
    },
  });
  t.equal(said.status, 200);
  t.ok(isResponse.Check(said.body), JSON.stringify(isResponse.Errors(said.body)));
  const { refund, topic, mood } = said.body.answers;
  t.same(Object.keys(said.body.answers), ['refund', 'topic', 'mood'], 'in the order of the questions');
  t.same(Object.keys(refund ?? {}), ['type', 'noul'], 'no confidence');
  t.match(topic, { type: 'choice', choice: 'damage' });
  t.match(mood, { type: 'score', legend: { 1: 'broken', 2: 'fine', 3: 'delighted' } });
  t.same(Object.keys(topic ?? {}), ['type', 'choice', 'probabilities', 'confidence']);
  t.same(Object.keys(mood ?? {}), ['type', 'score', 'legend', 'probabilities', 'confidence']);
  if (topic?.type === 'choice') {
    t.same(Object.keys(topic.probabilities), ['damage', 'praise', 'other']);
    t.ok(isOne(sum(Object.values(topic.probabilities))), 'sums to 1');
    const highest = topic.probabilities.damage ?? 0;
    t.ok(Math.abs(topic.confidence - (3 * highest - 1) / 2) < 1e-9, 'confidence');
  }
  if (mood?.type === 'score') {
    const [one = 0, two = 0, three = 0] = Object.values(mood.probabilities);
    t.ok(isOne(one + two + three));
    t.ok(Math.abs(mood.score - (one + 2 * two + 3 * three)) < 1e-9, 'weighted by probability');
    t.ok(mood.score < 2);
  }
  t.equal(said.body.usage.output_tokens, 0);
  t.match(said.body.id, /^dec-/);
  t.equal(said.body.model, model);
});

t.test('each question is billed for its whole prompt', async (t) => {
  const state = 'word '.repeat(500);
  const tokens = async (questions: object) => {
    const { body } = await post('/systemone', ask(questions, { state }));
    return body.usage.input_tokens;
  };
  const [one, two] = [await tokens({ a: noul }), await tokens({ a: noul, b: noul })];
  t.ok(one > 500);
  t.equal(two, 2 * one, 'the state once for each');
  const choice = {
    type: 'choice',
    instructions: 'Which?',
    criteria: { x: 'the first of all options', y: null },
  };
  const wordy = { ...choice, criteria: { ...choice.criteria, z: 'three more words' } };
  t.ok((await tokens({ a: wordy })) > (await tokens({ a: choice })), 'options count');
  t.match(events.at(-1), {
    route: '/systemone',
    model,
    outcome: 'completed',
    quantities: { completion_tokens: 0, inputs: 1 },
    first_token_ms: null,
  });
  t.match(events.at(-3), { quantities: { prompt_tokens: two, inputs: 2 } });
  t.equal(events.at(-3)?.cost, costOf([[two, '0.0000001']]));
});

t.test('how the simulator decides', async (t) => {
  const yes = await answerOf({ type: 'noul', instructions: 'Is the parcel broken?' });
  const no = await answerOf({ type: 'noul', instructions: 'Does the cat sing opera?' });
  t.ok(yes.type === 'noul' && yes.noul > 0.5);
  t.ok(no.type === 'noul' && no.noul < 0.5);
  const criteria = { true: 'something arrived broken', false: 'all is well' };
  const meant = await answerOf({ ...noul, criteria });
  t.ok(meant.type === 'noul' && meant.noul > 0.5, 'what yes and no mean, where it is said');
  t.same(await answerOf(noul), await answerOf(noul), 'the same each time');
  t.same(await answerOf(noul, { a: [1] }), await answerOf(noul, '{"a":[1]}'), 'data is read as JSON');
  t.same(
    await answerOf({ ...noul, instructions: { ask: 'x' } }),
    await answerOf({ ...noul, instructions: '{"ask":"x"}' }),
  );
  const levels = await answerOf({
    type: 'score',
    instructions: ['How?'],
    criteria: [{ level: 'low' }, ['high']],
  });
  t.match(levels, { legend: { 1: { level: 'low' }, 2: ['high'] } }, 'labels as they were given');
});

t.test('a single option is certain', async (t) => {
  t.same(await answerOf({ type: 'choice', instructions: 'Which?', criteria: { only: null } }), {
    type: 'choice',
    choice: 'only',
    probabilities: { only: 1 },
    confidence: 1,
  });
  t.same(await answerOf({ type: 'score', instructions: 'How much?', criteria: ['all'] }), {
    type: 'score',
    score: 1,
    legend: { 1: 'all' },
    probabilities: { 1: 1 },
    confidence: 1,
  });
});

t.test('255 options, 64 questions, 10 levels', async (t) => {
  const criteria = Object.fromEntries(
    Array.from({ length: 255 }, (_, index) => [
      `option ${index}`,
      index === 200 ? 'the parcel arrived broken' : `thing ${index}`,
    ]),
  );
  const choice = await answerOf({ type: 'choice', instructions: 'Which?', criteria });
  t.ok(choice.type === 'choice' && choice.choice === 'option 200');
  if (choice.type === 'choice') {
    t.same(Object.keys(choice.probabilities), Object.keys(criteria));
    t.ok(isOne(sum(Object.values(choice.probabilities))));
  }
  const levels = Array.from({ length: 10 }, (_, index) => `level ${index}`);
  const score = { type: 'score', instructions: 'How?', criteria: levels };
  const questions = Object.fromEntries(
    Array.from({ length: 64 }, (_, index) => [`q${index}`, index % 2 ? score : noul]),
  );
  const said = await post('/systemone', ask(questions));
  t.equal(said.status, 200);
  t.same(Object.keys(said.body.answers), Object.keys(questions));
});

t.test('distributions', async (t) => {
  const logprobs = fc.array(fc.double({ min: -10_000, max: 0, noNaN: true }), {
    minLength: 1,
    maxLength: 255,
  });
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(logprobs, (given) => {
        const likely = probabilities(given);
        const sure = confidence(likely);
        return (
          isOne(sum(likely)) &&
          likely.every((each) => each >= 0 && each <= 1) &&
          sure >= 0 &&
          sure <= 1 &&
          likely[given.indexOf(Math.max(...given))] === Math.max(...likely)
        );
      }),
    ),
  );
  t.equal(confidence([0.25, 0.25, 0.25, 0.25]), 0, 'even');
  t.equal(confidence([1, 0, 0]), 1, 'on one');
  t.equal(confidence([1]), 1);
  t.same(probabilities([Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]), [0.5, 0.5]);
});

t.test('ids of models and questions', async (t) => {
  t.equal(await refusal('/systemone', ask({ a: noul }, { model: 'decide' })), '200', 'without its author');
  t.equal(await refusal('/systemone', ask({ a: noul }, { model: 'sluice/decide:fast' })), '200');
  const odd = ['', 'a b', '7', 'constructor', '"'];
  const said = await post('/systemone', ask(Object.fromEntries(odd.map((id) => [id, noul]))));
  t.same(Object.keys(said.body.answers).sort(), [...odd].sort());
});

t.test('errors name the invalid field', async (t) => {
  const one = (question: unknown) => ask({ it: question });
  const choice = (criteria: unknown) => one({ type: 'choice', instructions: 'Which?', criteria });
  const score = (criteria: unknown) => one({ type: 'score', instructions: 'How much?', criteria });
  const words = 'must be a string, an object or an array';
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`o${index}`, 'x']));
  const cases: readonly (readonly [body: unknown, says: string])[] = [
    ['', '422 The request body is empty; a JSON object is expected'],
    ['{"model":', '422 The request body is not valid JSON: unexpected end at line 1 column 10'],
    ['"hello"', '422 The request body must be a JSON object, not a string'],
    [{}, '422 model is required'],
    [ask({ a: noul }, { model: 5 }), '422 model must be a string'],
    [ask({ a: noul }, { model: 'no/such' }), '404 No model named "no/such"'],
    [ask({ a: noul }, { model: 'nothing' }), '404 No model named "nothing"'],
    [
      ask({ a: noul }, { model: 'sluice/chat' }),
      '422 "sluice/chat" is of kind chat; this route takes models of kind decision',
    ],
    [
      ask({ a: noul }, { model: 'embed' }),
      '422 "sluice/embed" is of kind embedding; this route takes models of kind decision',
    ],
    [{ model, questions: { a: noul } }, '422 state is required'],
    [ask({ a: noul }, { state: null }), `422 state ${words}`],
    [ask({ a: noul }, { state: 5 }), `422 state ${words}`],
    [ask({ a: noul }, { state: true }), `422 state ${words}`],
    [{ model, state: 'x' }, '422 questions is required'],
    [ask(null), '422 questions must be an object'],
    [ask([noul]), '422 questions must be an object'],
    [ask({}), '422 questions must have at least 1 field'],
    [
      ask(Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`q${index}`, noul]))),
      '422 questions must have at most 64 fields',
    ],
    [one('yes?'), '422 questions.it must be an object'],
    [ask({ 'a b': null }), '422 questions["a b"] must be an object'],
    [ask({ 'a\nb': 5 }), '422 questions["a\\nb"] must be an object'],
    [one({ instructions: 'x' }), '422 questions.it.type is required'],
    [
      one({ type: 'number', instructions: 'x' }),
      '422 questions.it.type must be one of "noul", "choice", "score"',
    ],
    [one({ type: 'noul' }), '422 questions.it.instructions is required'],
    [one({ type: 'noul', instructions: 5 }), `422 questions.it.instructions ${words}`],
    [one({ ...noul, criteria: 'x' }), '422 questions.it.criteria must be an object or null'],
    [one({ ...noul, criteria: { maybe: 'x' } }), '422 questions.it.criteria.maybe is not a known field'],
    [
      one({ ...noul, criteria: { true: 5 } }),
      '422 questions.it.criteria.true must be a string, an object, an array or null',
    ],
    [one({ type: 'choice', instructions: 'x' }), '422 questions.it.criteria is required'],
    [choice(null), '422 questions.it.criteria must be an object'],
    [choice(['a', 'b']), '422 questions.it.criteria must be an object'],
    [choice({}), '422 questions.it.criteria must have at least 1 field'],
    [choice(many(256)), '422 questions.it.criteria must have at most 255 fields'],
    [
      choice({ 'a\nb': 5 }),
      '422 questions.it.criteria["a\\nb"] must be a string, an object, an array or null',
    ],
    [choice({ a: 5 }), '422 questions.it.criteria.a must be a string, an object, an array or null'],
    [one({ type: 'score', instructions: 'x' }), '422 questions.it.criteria is required'],
    [score({ a: 'x' }), '422 questions.it.criteria must be an array'],
    [score([]), '422 questions.it.criteria must have at least 1 item'],
    [score(Array(11).fill('x')), '422 questions.it.criteria must have at most 10 items'],
    [score(['a', null]), `422 questions.it.criteria[1] ${words}`],
    [
      ask({ a: noul }, { state: 'word '.repeat(16_384) }),
      '422 questions.a is too long: with the state it has 16414 tokens, model sluice/decide reads 16384',
    ],
    [
      ask({ a: noul, 'b c': { ...noul, instructions: 'word '.repeat(16_400) } }),
      '422 questions["b c"] is too long: with the state it has 16427 tokens, model sluice/decide reads 16384',
    ],
    // accepted
    [ask({ a: noul }, { state: '' }), '200'],
    [ask({ a: noul }, { state: [] }), '200'],
    [one({ ...noul, criteria: null }), '200'],
    [one({ ...noul, criteria: { true: 'x', false: null } }), '200'],
    [choice(many(255)), '200'],
    [ask({ a: noul }, { provider: null, session_id: 's', trace: {}, user: 5, unknown: 1 }), '200'],
    [ask({ a: noul }, { state: 'word '.repeat(16_300) }), '200'],
  ];
  const before = events.length;
  for (const [body, says] of cases)
    t.equal(await refusal('/systemone', body), says, JSON.stringify(body).slice(0, 100));
  t.equal(events.length - before, cases.filter(([, says]) => says === '200').length, 'refusals cost nothing');
  t.match(await post('/systemone', one({})), {
    body: {
      error: {
        code: 422,
        type: 'validation_error',
        param: 'questions',
        metadata: { error_type: 'unprocessable' },
      },
    },
  });
  const untyped = await fetch(`${gateway.url}/systemone`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'text/plain' },
    body: '{}',
  });
  t.equal(untyped.status, 422, 'the wrong content type');
});

t.test('failures of the engine', async (t) => {
  const failed = async (line: string) => {
    const said = await post('/systemone', ask({ a: noul }, { state: `/sim ${line}\nHi` }));
    const { error } = said.body;
    t.equal(events.at(-1)?.status, said.status, 'as the event has it');
    return error === undefined ? [said.status] : [said.status, error.metadata.error_type];
  };
  t.same(await failed('fail=503'), [529, 'provider_overloaded']);
  t.same(await failed('fail=529'), [529, 'provider_overloaded']);
  t.match(events.at(-1), { outcome: 'failed', cost: '0', quantities: { inputs: 0 } });
  t.same(await failed('fail=504'), [502, 'provider_unavailable']);
  t.same(await failed('drop@0'), [502, 'provider_unavailable']);
  t.same(await failed('fail=400'), [422, 'unprocessable']);
  t.same(await failed('fail=500'), [500, 'server']);
  t.same(await failed('first=5ms'), [200]);
  t.same(await failed('usage=off'), [200], 'counted here');
  t.ok((events.at(-1)?.quantities.prompt_tokens ?? 0) > 20);
});

t.test('a client that disconnects', async (t) => {
  const before = events.length;
  const leaving = new AbortController();
  const asked = post('/systemone', ask({ a: noul }, { state: '/sim first=1m\nHi' }), leaving.signal);
  await eventually(() => gateway.ports.admission.stats().running > 0, 'it runs');
  leaving.abort();
  await t.rejects(asked);
  await eventually(() => events.length > before, 'its event');
  t.match(events.at(-1), { outcome: 'cancelled', status: 499, cost: '0' });
});

t.test('openrouter', async (t) => {
  const client = new OpenRouter({
    serverURL: gateway.url,
    apiKey: gateway.key,
    retryConfig: { strategy: 'none' },
  });
  const said = await client.systemOne.create({
    decisionsRequest: {
      model,
      state: { message: 'The parcel arrived broken' },
      user: 'u',
      sessionId: 's',
      questions: {
        yes: { type: 'noul', instructions: 'Is it broken?', criteria: { true: 'broken', false: ['whole'] } },
        which: {
          type: 'choice',
          instructions: { ask: 'Which?' },
          criteria: { damage: 'it arrived broken', other: null, third: { a: 1 } },
        },
        much: { type: 'score', instructions: ['How?'], criteria: ['little', { much: true }] },
      },
    },
  });
  t.notMatch(JSON.stringify(said), 'isUnknown');
  t.match(said, {
    model,
    answers: {
      yes: { type: 'noul', noul: Number },
      which: {
        type: 'choice',
        choice: 'damage',
        confidence: Number,
        probabilities: { damage: Number, other: Number, third: Number },
      },
      much: {
        type: 'score',
        score: Number,
        confidence: Number,
        legend: { 1: 'little', 2: { much: true } },
        probabilities: { 1: Number, 2: Number },
      },
    },
    usage: { inputTokens: Number, outputTokens: 0 },
  });
  const question = { a: { type: 'noul' as const, instructions: 'x' } };
  const create = (state: string, id = model) =>
    thrownBy(client.systemOne.create({ decisionsRequest: { model: id, state, questions: question } }));
  t.match(await create('/sim fail=503'), { name: 'ProviderOverloadedResponseError', statusCode: 529 });
  t.match(await create('x', 'no/such'), { name: 'NotFoundResponseError', statusCode: 404 });
  t.match(await create('x', 'sluice/chat'), { statusCode: 422 });
});
