/** Tests metrics and probes on the admin port. */
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { exposition, merged } from '../../src/metrics/exposition.ts';
import { Histogram } from '../../src/metrics/histogram.ts';
import { Operations } from '../../src/metrics/operations.ts';
import { watchEventLoop } from '../../src/metrics/process.ts';
import { usageEvent } from '../billing/usage-events.ts';
import { startGateway } from '../gateway.ts';

const get = async (url: string): Promise<{ status: number; text: string }> => {
  const response = await fetch(url);
  return { status: response.status, text: await response.text() };
};

t.test('metrics and probes of a gateway', async (t) => {
  const gateway = await startGateway({ env: { SLUICE_ADMIN_PORT: '0' } });
  t.teardown(() => gateway.stop());
  const admin = String(gateway.adminUrl);

  t.strictSame(await get(`${admin}/livez`), { status: 200, text: 'ok\n' });
  t.strictSame(await get(`${admin}/readyz`), { status: 200, text: 'ok\n' });
  t.equal((await get(`${admin}/elsewhere`)).status, 404);
  t.equal((await fetch(`${admin}/metrics`, { method: 'POST' })).status, 404);

  const response = await fetch(`${gateway.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sluice/chat', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  const { usage } = (await response.json()) as { usage: { completion_tokens: number } };
  const { text } = await get(`${admin}/metrics`);
  for (const line of [
    'sluice_operations_total{route="/chat/completions",model="sluice/chat",outcome="completed"} 1',
    'sluice_operations_total{route="/chat/completions",model="sluice/chat",outcome="failed"} 0',
    `sluice_tokens_total{route="/chat/completions",model="sluice/chat",kind="completion"} ${usage.completion_tokens}`,
    'sluice_operation_seconds_count{route="/chat/completions",model="sluice/chat"} 1',
    'sluice_queue_wait_seconds_bucket{route="/chat/completions",model="sluice/chat",le="+Inf"} 1',
    'sluice_admission_running 0',
    '# TYPE sluice_admission_tokens_total counter',
    'sluice_engine_up{engine="simulator"} 1',
    'sluice_http_in_flight 0',
    '# TYPE sluice_journal_lag_bytes gauge',
    '# TYPE sluice_event_loop_delay_seconds histogram',
    'sluice_journal_open 1',
  ])
    t.ok(text.split('\n').includes(line), line);
  t.match(text, /^process_resident_memory_bytes \d+$/m);
  t.notMatch(text, gateway.key, 'no secret is shown');
});

t.test('a port in use gives a one-line error', async (t) => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  t.teardown(() => taken.close());
  const { port } = taken.address() as { port: number };
  await t.rejects(startGateway({ env: { SLUICE_ADMIN_PORT: String(port) } }), {
    message: `The port for metrics, 127.0.0.1:${port}, cannot be used (EADDRINUSE); SLUICE_ADMIN_PORT sets another, or off`,
  });
});

t.test('histogram buckets are cumulative', async (t) => {
  const histogram = new Histogram();
  for (const milliseconds of [0, 1, 1.5, 300_001]) histogram.observe(milliseconds);
  const samples = histogram.samples('wait', {});
  const at = (le: string) => samples.find(({ labels }) => labels.le === le)?.value;
  t.strictSame([at('0.001'), at('0.0025'), at('300'), at('+Inf')], [2, 3, 3, 4]);
  t.equal(samples.at(-1)?.value, 4);
});

t.test('event loop lag is measured', async (t) => {
  const { late, close } = watchEventLoop();
  t.teardown(close);
  for (const end = performance.now() + 200; performance.now() < end; );
  const at = (le: string) => late.samples('late', {}).find(({ labels }) => labels.le === le)?.value ?? 0;
  while (at('+Inf') === 0) await delay(5);
  t.equal(at('0.05'), 0, 'no sooner than after the 100 ms it had to wait');
});

t.test('the number of route and model pairs is bounded', async (t) => {
  const operations = new Operations();
  for (let n = 0; n < 1000; n++) operations.add(usageEvent({ model: `m/${n}` }));
  const ended = operations.ended();
  t.equal(new Set(ended.map(({ labels }) => labels.model)).size, 501);
  t.equal(
    ended.reduce((sum, { value }) => sum + value, 0),
    1000,
  );
});

t.test('label values are escaped, and metric families of several processes are merged', async (t) => {
  const family = (value: number) => [
    { name: 'up', help: 'Up.', type: 'gauge' as const, samples: [{ labels: { at: 'a"b\\c\nd' }, value }] },
  ];
  t.equal(
    exposition(
      merged(
        new Map([
          ['1', family(1)],
          ['2', family(2)],
        ]),
      ),
    ),
    '# HELP up Up.\n# TYPE up gauge\nup{at="a\\"b\\\\c\\nd",process="1"} 1\nup{at="a\\"b\\\\c\\nd",process="2"} 2\n',
  );
});
