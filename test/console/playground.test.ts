/** Tests what the playground computes by itself: settings, events of each dialect, samples of sound, similarity. */
import t from 'tap';
import { EventParser } from '../../src/console/web/api/sse.ts';
import { floatsOf, formatOf, readWavHead, wavHead } from '../../src/console/web/playground/audio/pcm.ts';
import { Answer } from '../../src/console/web/playground/chat/answer.ts';
import {
  audioFormatOf,
  readSchema,
  readTools,
  type Settings,
  type Turn,
} from '../../src/console/web/playground/chat/conversation.ts';
import { dialects } from '../../src/console/web/playground/chat/dialect.ts';
import { similarity } from '../../src/console/web/playground/similarity.ts';
import { startGateway } from '../gateway.ts';

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const settings: Settings = {
  ...{ model: 'sluice/reasoner', system: 'Be short.', effort: 'low', temperature: 0.5, maxTokens: 400 },
  tools: [{ name: 'get_weather', description: 'The weather', parameters }],
  schema: undefined,
};
const call = { id: 'call_1', name: 'get_weather', arguments: '{"city":"Paris"}' };

t.test('each dialect: a call, and the response to its result', async (t) => {
  const gateway = await startGateway();
  t.teardown(() => gateway.stop());
  for (const { id, path, body, read } of dialects) {
    const ask = async (turns: readonly Turn[]): Promise<Answer> => {
      const response = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body(turns, settings)),
      });
      const text = await response.text();
      t.equal(response.status, 200, `${id}: ${text.slice(0, 300)}`);
      const answer = new Answer();
      for (const event of new EventParser().push(text)) read(event, answer);
      return answer;
    };
    const question: Turn = { role: 'user', text: 'What is the weather in Paris?', files: [] };
    const first = await ask([question]);
    t.equal(first.failure, undefined, id);
    t.match(first.calls, [{ id: /^(call|toolu)_/, name: 'get_weather', arguments: '{"city":"Paris"}' }], id);
    t.match(first.reasoning, /\w+/, id);
    t.equal(first.usage?.reasoning, 16, id);
    const said: Turn = { role: 'assistant', text: '', reasoning: first.reasoning, calls: first.calls };
    const results = first.calls.map((each) => ({ call: each, text: '{"degrees":21}' }));
    const second = await ask([question, said, { role: 'tool', results }]);
    t.strictSame(second.calls, [], id);
    t.match(second.text, /degrees/, id);
    t.match(second.usage, { prompt: Number, cached: Number, completion: Number }, id);
    t.ok((second.usage?.completion ?? 0) >= second.deltas, id);
  }
});

t.test(
  'a call whose arguments are not JSON is sent back as an empty object where it must be one',
  async (t) => {
    const turn: Turn = {
      ...{ role: 'assistant', text: 'Hm', reasoning: '' },
      calls: [{ ...call, arguments: '{"city' }],
    };
    const messages = dialects.find(({ id }) => id === 'messages');
    t.match(messages?.body([turn], settings), {
      messages: [{ content: [{ type: 'text' }, { type: 'tool_use', input: {} }] }],
    });
  },
);

t.test('tools and schemas are checked', async (t) => {
  t.strictSame(readTools(JSON.stringify(settings.tools)), settings.tools);
  for (const [text, message] of [
    ['{}', /^Tools are a list/],
    ['[{}]', /^\[0\]\.name is required/],
    ['[{"name":"a","description":1}]', /^\[0\]\.description must be a string/],
    ['[{"name":"a","parameters":[]}]', /^\[0\]\.parameters must be a JSON schema/],
    ['[', /JSON/],
  ] as const)
    t.throws(() => readTools(text), { message }, text);
  t.throws(() => readSchema('[]'), { message: 'A JSON schema is an object' });
});

t.test('media types become formats', async (t) => {
  const formats = ['audio/mpeg', 'audio/x-wav', 'audio/mp4', 'audio/webm;codecs=opus', 'audio/flac'];
  t.strictSame(
    formats.map((type) => audioFormatOf({ name: '', type })),
    ['mp3', 'wav', 'm4a', 'webm', 'flac'],
  );
});

t.test('samples', async (t) => {
  t.strictSame(formatOf('audio/pcm;rate=24000;channels=2'), { rate: 24_000, channels: 2 });
  const bytes = new Uint8Array([0, 0, 0, 0x40, 0, 0x80, 0, 0xc0]);
  t.strictSame(
    floatsOf(bytes, { rate: 1, channels: 2 }).map((channel) => [...channel]),
    [
      [0, -1],
      [0.5, -0.5],
    ],
  );
  const head = wavHead({ rate: 32_000, channels: 2 }, 8);
  t.strictSame(readWavHead(head), { rate: 32_000, channels: 2, dataAt: 44 });
  for (let length = 0; length < 44; length++) t.equal(readWavHead(head.slice(0, length)), undefined);
});

t.test('similarity', async (t) => {
  t.equal(similarity([1, 2, 2], [1, 2, 2]), 1);
  t.equal(similarity([1, 0], [0, 3]), 0);
  t.equal(similarity([0, 0], [1, 1]), 0);
  t.equal(similarity([1, 0], [-2, 0]), -1);
});
