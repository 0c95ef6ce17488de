/** Tests retries within an engine: attempts, backoff, budget and circuit breaker as its row sets them. */
import t from 'tap';
import { RetryBudget } from '../../src/engines/pool/retry-budget.ts';
import { ask, Collected, engineOn } from '../engines/collect.ts';
import { type ScriptedEngine, startScriptedEngine } from '../engines/scripted-engine.ts';

const failing = (count: number): Promise<ScriptedEngine[]> =>
  Promise.all(Array.from({ length: count }, () => startScriptedEngine((request) => request.json(500, {}))));

const sum = (engines: readonly ScriptedEngine[]): number =>
  engines.reduce((total, { requests }) => total + requests.length, 0);

t.test('the budget is a share of the calls of ten seconds', async (t) => {
  const budget = new RetryBudget({ budget: 0.2, budgetMin: 3 });
  const allowed = (now: number, tries: number): number =>
    Array.from({ length: tries }, () => budget.allows(now)).filter(Boolean).length;
  t.equal(allowed(0, 5), 3, 'a few in any case');
  t.strictSame([budget.made, budget.refused], [3, 2]);
  for (let call = 0; call < 100; call++) budget.called(1000);
  t.equal(allowed(1000, 50), 17, 'a fifth of a hundred, with those there were');
  t.equal(allowed(9999, 5), 0);
  t.equal(allowed(10_000, 5), 3, 'the first three have left the window');
  t.equal(allowed(11_000, 50), 0, 'the calls have left it too');
  t.equal(allowed(21_000, 50), 3);
  t.equal(allowed(1_000_000, 50), 3, 'after a long time');
});

t.test('a sick pool is not stormed', async (t) => {
  const engines = await failing(3);
  const subject = engineOn(
    engines.map(({ url }) => url),
    { retries: { budget: 0.1, budget_min: 2 }, circuit_breaker: { server_failures: 1000 } },
  );
  for (let call = 0; call < 40; call++)
    t.match(await new Collected(subject).ended, { kind: 'engine_unreachable', fallback: 'server_error' });
  t.equal(sum(engines), 44, '40 calls and a tenth of them again');
  t.strictSame(subject.stats().retries, { made: 4, refused: 39 });
  for (const engine of engines) await engine.close();
  await subject.close();
});

t.test('attempts and backoff', async (t) => {
  const engines = await failing(4);
  const urls = engines.map(({ url }) => url);
  const once = engineOn(urls, { retries: { attempts: 1 } });
  await ask(once);
  t.equal(sum(engines), 1);
  await once.close();

  const patient = engineOn(urls, { retries: { attempts: 4, backoff: '40ms', max_backoff: '80ms' } });
  const began = performance.now();
  await ask(patient);
  t.equal(sum(engines), 5);
  t.ok(performance.now() - began >= 199, '40, 80 and 80 ms');
  await patient.close();
  for (const engine of engines) await engine.close();
});

t.test('a call that is closed during its backoff is not repeated', async (t) => {
  const engines = await failing(2);
  const subject = engineOn(
    engines.map(({ url }) => url),
    { retries: { backoff: '200ms' } },
  );
  const collected = new Collected(subject);
  await Promise.race(engines.map((engine) => engine.request(0)));
  await new Promise((resolve) => setTimeout(resolve, 50));
  collected.subscription.unsubscribe();
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.equal(sum(engines), 1);
  for (const engine of engines) await engine.close();
  await subject.close();
});

t.test('a replica is ejected as the row says', async (t) => {
  const [engine] = await failing(1);
  if (engine === undefined) throw new Error('one engine was started');
  const subject = engineOn([engine.url], { circuit_breaker: { server_failures: 2, cooldown: '1m' } });
  await ask(subject);
  t.equal(subject.health(), 'ok');
  await ask(subject);
  t.equal(subject.health(), 'down');
  t.match(await new Collected(subject).ended, {
    kind: 'unavailable',
    fallback: 'down',
    headers: { 'retry-after': '60' },
  });
  t.equal(engine.requests.length, 2);
  await engine.close();
  await subject.close();
});
