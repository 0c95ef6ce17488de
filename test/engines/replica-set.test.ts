/** Tests replicas that join and leave while an engine runs: slow start, draining, reloads. */
import t from 'tap';
import type { EngineRow, ReplicaRow } from '../../schemas/engines.ts';
import { createEngines } from '../../src/engines/table.ts';
import { eventually } from '../eventually.ts';
import { sampleModel } from '../samples.ts';
import { ask, Collected, engineOn, silent } from './collect.ts';
import { event, type ScriptedEngine, startScriptedEngine, token } from './scripted-engine.ts';

const start = (count: number): Promise<ScriptedEngine[]> =>
  Promise.all(
    Array.from({ length: count }, (_, index) =>
      startScriptedEngine((request) => request.answer(`r${index}`)),
    ),
  );
const counts = (engines: readonly ScriptedEngine[]): number[] =>
  engines.map((engine) => engine.requests.length);
const said = (words: string) => ({
  parts: [
    { type: 'text', choice: 0, text: words },
    { type: 'finish', choice: 0, reason: 'stop', native: 'stop' },
  ],
  error: undefined,
});

t.test('a replica that leaves gets no more calls; the one it has runs to its end', async (t) => {
  const [stays, leaves] = (await start(2)) as [ScriptedEngine, ScriptedEngine];
  leaves.script = (request) => {
    request.streamHead();
    request.chunk(token('Hel'));
  };
  const subject = engineOn([leaves.url]);
  const running = new Collected(subject);
  const request = await leaves.request(0);
  await eventually(() => running.parts.length > 0);
  subject.setReplicas([stays.url]);
  for (let count = 0; count < 4; count++) t.strictSame(await ask(subject), said('r0'));
  t.strictSame(counts([stays, leaves]), [4, 1]);
  request.chunk(
    `${token('lo')}${event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`,
  );
  request.end();
  t.strictSame(await running.outcome(), said('Hello'));
  await request.gone;
  t.pass('its connection is closed then');
  t.strictSame(
    subject.stats().replicas.map(({ url }) => url),
    [stays.url],
  );
  await Promise.all([stays.close(), leaves.close()]);
  await subject.close();
});

t.test('calls that wait are sent to a replica that joins, and fail when the last one leaves', async (t) => {
  const [full, joins] = (await start(2)) as [ScriptedEngine, ScriptedEngine];
  full.script = () => undefined;
  const subject = engineOn([full.url], { concurrency: 1 });
  const held = new Collected(subject);
  await full.request(0);
  const waiting = ask(subject);
  subject.setReplicas([full.url, joins.url]);
  t.strictSame(await waiting, said('r1'));

  joins.script = () => undefined;
  const second = new Collected(subject);
  await joins.request(1);
  const refused = ask(subject);
  subject.setReplicas([]);
  t.strictSame(await refused, { parts: [], error: ['unavailable', 'The model is unavailable, try again'] });
  t.equal(subject.health(), 'down');
  t.match((await ask(subject)).error, ['unavailable']);
  for (const each of [held, second]) each.subscription.unsubscribe();
  await Promise.all([full.close(), joins.close()]);
  await subject.close();
});

t.test('a replica that joins starts slowly; weights distribute the calls', async (t) => {
  const engines = await start(3);
  const [one, two, three] = engines.map(({ url }) => url) as [string, string, string];
  const subject = engineOn([one], { slow_start: '1h' });
  subject.setReplicas([{ url: one, weight: 3 }, two]);
  for (let count = 0; count < 31; count++) await ask(subject);
  t.strictSame(counts(engines), [30, 1, 0], 'a tenth of its weight at first: one of thirty-one');
  await subject.close();

  const weighted = engineOn([], { replicas: [{ url: one, weight: 3 }, two, { url: three, weight: 0.5 }] });
  for (let count = 0; count < 45; count++) await ask(weighted);
  t.strictSame(counts(engines), [60, 11, 5], 'at the start of an engine nobody is slow');
  await weighted.close();
  await Promise.all(engines.map((engine) => engine.close()));
});

t.test('a reload that changes only replicas keeps the others and their connections', async (t) => {
  const [first, second, third] = (await start(3)) as [ScriptedEngine, ScriptedEngine, ScriptedEngine];
  const row = (...replicas: ReplicaRow[]): EngineRow => ({ wire: 'openai', replicas });
  const table = createEngines({ a: row(first.url, second.url) }, { simulator: {}, log: silent, env: {} });
  const engine = table.of(sampleModel({ engine: 'a' }));
  const running = new Collected(engine);
  await running.ended;
  await new Collected(engine).ended;
  table.replace({ a: row(third.url, { url: first.url, weight: 2 }) });
  t.equal(table.of(sampleModel({ engine: 'a' })), engine, 'the same engine');
  for (let count = 0; count < 8; count++) await new Collected(engine).ended;
  t.equal(second.requests.length, 1, 'the one that is gone gets nothing');
  t.ok(third.requests.length > 0);
  t.equal(first.connections, 1, 'the one that stayed still has its connection');

  t.throws(() => table.replace({ a: row('http://[') }), {
    message: 'engines.a.replicas[0] is no address: http://[',
  });
  t.strictSame(
    table
      .stats()
      .get('a')
      ?.replicas.map(({ url }) => url),
    [third.url, first.url],
    'nothing was changed',
  );
  table.replace({ a: { ...row(first.url), balance: 'least-busy' } });
  t.not(table.of(sampleModel({ engine: 'a' })), engine, 'another row is another engine');
  await table.close();
  await Promise.all([first, second, third].map((each) => each.close()));
});
