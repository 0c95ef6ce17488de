/** Tests that a webhook is sent once for each threshold of a budget, and that its use is a metric. */
import t from 'tap';
import { eventually } from '../eventually.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { signaturesBy } from '../webhooks/verify.ts';
import { startBudgetGateway } from './client.ts';

const { gateway, limited, known, chat } = await startBudgetGateway({
  env: { SLUICE_ALLOW_PRIVATE_URLS: '1', SLUICE_ADMIN_PORT: '0' },
});
t.teardown(() => gateway.stop());

t.test('50, 80 and 95 %', async (t) => {
  const receiver = await startReceiver(t);
  const key = await limited({ amount: '0.0008', period: 'total', callback_url: receiver.url });
  await known();
  for (let call = 0; call < 100; call++) if ((await chat(key.secret)).status === 429) break;
  const got = await eventually(
    () => (receiver.deliveries.length >= 2 ? receiver.deliveries : undefined),
    'thresholds are reported',
  );
  const { secret } = await gateway.ports.webhookSecrets.current('sub_default');
  for (const delivered of got) t.equal(await signaturesBy(delivered, secret), 1);
  const bodies = got.map(({ body }) => JSON.parse(body.toString()));
  const [{ data, ...event }] = bodies as [
    { data: Record<string, unknown>; type: string; created_at: number },
  ];
  t.strictSame(event, { type: 'budget.threshold_reached', created_at: event.created_at });
  t.strictSame(data, {
    object: 'budget',
    id: key.budget,
    subscription: 'sub_default',
    key: key.id,
    amount: '0.0008',
    period: 'total',
    time_zone: 'UTC',
    created: data.created,
    threshold: 50,
    used: data.used,
    resets_at: null,
  });
  t.ok(Number(data.used) >= 0.0004 && Number(data.used) <= 0.0008, `${data.used} are used`);
  const thresholds = bodies.map((body) => body.data.threshold);
  t.equal(new Set(thresholds).size, thresholds.length, 'each once');

  const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  const ratio = new RegExp(`^sluice_budget_used_ratio\\{budget="${key.budget}"\\} ([0-9.]+)$`, 'm').exec(
    metrics,
  );
  t.ok(Number(ratio?.[1]) >= 0.5 && Number(ratio?.[1]) <= 1, `ratio ${ratio?.[1]}`);
  t.match(metrics, /^sluice_quota_refused_total\{kind="budget"\} [1-9]/m);
  t.match(metrics, /^sluice_quota_overruns_total 0$/m);
});
