/** Tests responses in the background: the OpenAI SDK polls, resumes and cancels them. */
import OpenAI from 'openai';
import t from 'tap';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { ask, eventsOf, idOf, leaveAfter, send } from './client.ts';

const slow = '/sim tokens=40 seed=5 rate=100';
const endless = '/sim tokens=100000 seed=5 rate=50';
const background = (input: string, stream: boolean) => ({
  model: 'sluice/chat',
  input,
  background: true,
  stream,
});

t.test('the OpenAI SDK', async (t) => {
  const gateway = await startGateway();
  t.teardown(() => gateway.stop());
  const client = new OpenAI({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
  const undisturbed = await client.responses.create({ model: 'sluice/chat', input: slow });

  t.test('resumes a stream after the event it saw last', async (t) => {
    const stream = await client.responses.create({
      model: 'sluice/chat',
      input: slow,
      background: true,
      stream: true,
    });
    let id = '';
    let text = '';
    let seen = -1;
    for await (const event of stream) {
      t.equal(event.sequence_number, seen + 1);
      seen = event.sequence_number;
      if (event.type === 'response.created') {
        id = event.response.id;
        t.equal(event.response.background, true);
      }
      if (event.type === 'response.output_text.delta') text += event.delta;
      if (seen > 12) break;
    }
    stream.controller.abort();

    const polled = await client.responses.retrieve(id);
    t.equal(polled.id, id);
    t.match(polled.status, /^(in_progress|completed)$/);

    const rest = await client.responses.retrieve(id, { stream: true, starting_after: seen });
    for await (const event of rest) {
      t.equal(event.sequence_number, seen + 1, 'strictly after it');
      seen = event.sequence_number;
      if (event.type === 'response.output_text.delta') text += event.delta;
      if (event.type === 'response.completed') t.equal(event.response.output_text ?? text, text);
    }
    t.equal(text, undisturbed.output_text, 'the text is that of an undisturbed run');
    const ended = await client.responses.retrieve(id);
    t.equal(ended.status, 'completed');
    t.equal(ended.output_text, undisturbed.output_text);
    t.strictSame(ended.usage, undisturbed.usage);

    const nothing = await client.responses.retrieve(id, { stream: true, starting_after: seen });
    for await (const _ of nothing) t.fail('there is nothing after its end');

    const helper = client.responses.stream({ response_id: id, starting_after: 3 });
    t.equal((await helper.finalResponse()).output_text, undisturbed.output_text, 'so does its helper');
  });

  t.test('polls one that is not streamed', async (t) => {
    const begun = await client.responses.create({ model: 'sluice/chat', input: slow, background: true });
    t.match(begun, { object: 'response', status: 'in_progress', background: true, output: [] });
    const ended = await eventually(async () => {
      const response = await client.responses.retrieve(begun.id);
      return response.status !== 'in_progress' && response;
    }, 'it ends');
    t.equal(ended.status, 'completed');
    t.equal(ended.output_text, undisturbed.output_text);
  });

  t.test('cancels', async (t) => {
    const begun = await client.responses.create({ model: 'sluice/chat', input: endless, background: true });
    const cancelled = await client.responses.cancel(begun.id);
    t.match(cancelled, { id: begun.id, status: 'cancelled' });
    t.equal((await client.responses.retrieve(begun.id)).status, 'cancelled');
    t.equal((await client.responses.cancel(begun.id)).status, 'cancelled', 'again is the same');
    await eventually(() => gateway.ports.admission.stats().running === 0, 'its slot is free');
    const deleted: unknown = await client.responses.delete(begun.id);
    t.strictSame(deleted, { id: begun.id, object: 'response', deleted: true });
    await t.rejects(client.responses.retrieve(begun.id), { message: /^404 / });
  });
});

t.test('what the SDK does not see', async (t) => {
  const gateway = await startGateway();
  t.teardown(() => gateway.stop());
  const sent = await send(gateway, 'POST', '/responses', { body: background(slow, true) });
  t.equal(sent.headers['sluice-resumable'], '300', 'as long as the operator allows');
  const stream = idOf(sent);
  const seen = await leaveAfter(sent, 5);
  const id = stream.replace('stream_', 'resp_');
  t.equal(JSON.parse(seen[0]?.split('\ndata: ')[1] ?? '').response.id, id);

  const all = await ask(gateway, 'GET', `/responses/${id}?stream=true`);
  const events = eventsOf(all.text);
  t.strictSame(events.slice(0, seen.length), seen);
  for (const [number, event] of events.entries())
    t.match(
      event,
      new RegExp(`^id: ${number}\\n(.*\\n)*.*"sequence_number":${number},`),
      'both numbers agree',
    );
  const rest = await ask(gateway, 'GET', `/responses/${id}?stream=true&starting_after=4`);
  t.equal(rest.text, events.slice(5).join(''));
  t.equal((await ask(gateway, 'GET', `/streams/${stream}?after=4`)).text, rest.text, 'it is one stream');

  for (const [path, message] of [
    [`/responses/${id}?stream=yes`, 'stream must be "true" or "false"'],
    [`/responses/${id}?starting_after=1`, 'starting_after needs stream to be true'],
    [`/responses/${id}?stream=true&starting_after=x`, 'starting_after must be the number of an event'],
  ] as const) {
    const refused = await ask(gateway, 'GET', path);
    t.match([refused.status, JSON.parse(refused.text).error.message], [400, message]);
  }
  const chat = await ask(gateway, 'POST', '/chat/completions', {
    body: { model: 'sluice/chat', messages: [{ role: 'user', content: '/sim tokens=2' }], stream: true },
    headers: { 'sluice-resumable': '30' },
  });
  for (const unknown of ['resp_none', idOf(chat).replace('stream_', 'resp_')])
    for (const [method, path] of [
      ['GET', `/responses/${unknown}`],
      ['DELETE', `/responses/${unknown}`],
      ['POST', `/responses/${unknown}/cancel`],
    ] as const) {
      const refused = await ask(gateway, method, path);
      t.equal(refused.status, 404);
      t.equal(JSON.parse(refused.text).error.message, `There is no response ${unknown}, or its time is over`);
    }
  const plain = await ask(gateway, 'POST', '/responses', {
    body: { ...background(slow, false), background: false },
  });
  t.equal(
    (await ask(gateway, 'GET', `/responses/${JSON.parse(plain.text).id}`)).status,
    404,
    'nothing else is kept',
  );
  const failed = await ask(gateway, 'POST', '/responses', { body: background('/sim fail=503@0', false) });
  t.equal(failed.status, 503, 'one that does not begin is refused');

  const live = await send(gateway, 'POST', '/responses', { body: background(endless, true) });
  const reading = leaveAfter(live, Number.POSITIVE_INFINITY);
  const running = idOf(live).replace('stream_', 'resp_');
  t.equal((await ask(gateway, 'POST', `/responses/${running}/cancel`)).status, 200);
  const last = (await reading).at(-1);
  t.match(last, /^id: \d+\nevent: response\.incomplete\n/);
  t.match(JSON.parse(last?.split('\ndata: ')[1] ?? ''), {
    type: 'response.incomplete',
    response: { id: running, status: 'cancelled', usage: null },
  });
});

t.test('an operator who keeps nothing refuses it', async (t) => {
  const gateway = await startGateway({ env: { SLUICE_RESUMABLE_SECONDS: '0' } });
  t.teardown(() => gateway.stop());
  const { status, text } = await ask(gateway, 'POST', '/responses', { body: background(slow, false) });
  t.equal(status, 400);
  t.match(JSON.parse(text).error, {
    param: 'background',
    message: 'background must be false: a response is not kept after its request',
  });
});
