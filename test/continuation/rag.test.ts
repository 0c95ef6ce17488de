/** Chat with a vector store goes on after its replica broke the stream off: what was retrieved is sent again. */
import t from 'tap';
import { startScriptedEngine } from '../engines/scripted-engine.ts';
import { startStores, text as textFile } from '../vector-store/stores.ts';
import { brokenThen, streamed, text } from './fixtures.ts';

t.test('retrieved once, answered by two replicas', async (t) => {
  const bodies: { messages: { role: string; content: string }[] }[] = [];
  const script = brokenThen([text('By'), text(' the')], [text(' moon.')]);
  const engines = await Promise.all(
    [0, 1].map(() =>
      startScriptedEngine((request) => {
        bodies.push(JSON.parse(request.body));
        return script(request, bodies.length - 1);
      }),
    ),
  );
  const { gateway, events, create, add } = await startStores({
    catalog: `
engines:
  lab: { wire: openai, replicas: [${engines.map(({ url }) => `'${url}'`).join(', ')}], continues: true }
models:
  sluice/embed: { kind: embedding, engine: simulator, context_length: 8192, capabilities: { embedding: { dimensions: 384 } } }
  lab/chat: { engine: lab, context_length: 8192, tokenizer: simulator }
defaults: { embedding: sluice/embed, chat: lab/chat }
`,
  });
  t.teardown(async () => {
    await gateway.stop();
    for (const engine of engines) await engine.close();
  });
  const messages = [{ role: 'user', content: 'What does the moon pull on?' }];
  const { id } = await create({ name: 'guides' });
  await add(id, textFile('The moon pulls on the sea.', 'tides.txt'));
  const response = await fetch(`${gateway.url}/chat/completions/RAG`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'lab/chat', collection: id, messages, stream: true }),
  });
  const answer = streamed(await response.text(), response);
  t.match(answer, { text: 'By the moon.', error: undefined, finish: 'stop', last: { x_sluice_attempts: 2 } });
  const [first, second] = bodies.map(({ messages }) => messages);
  t.ok(JSON.stringify(first).includes('The moon pulls on the sea.'));
  t.strictSame(second, [...(first ?? []), { role: 'assistant', content: 'By the' }]);
  t.equal(events.filter(({ model }) => model === 'lab/chat').length, 1);
});
