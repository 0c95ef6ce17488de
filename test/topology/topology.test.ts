/** Tests the deployed topology end to end: every operation is billed once, across gateways and failures. */
import { Redis } from 'ioredis';
import t from 'tap';
import type { UsageRequestRow, UsageTotalRow } from '../../schemas/usage.ts';
import { costOf } from '../../src/billing/cost.ts';
import type { Report } from '../../src/billing/verify.ts';
import { eventually, patiently } from '../eventually.ts';
import { clickHouseMissing } from '../services/clickhouse.ts';
import { kafkaMissing } from '../services/kafka.ts';
import { qdrantMissing } from '../services/qdrant.ts';
import { redisMissing } from '../services/redis.ts';
import { s3Missing } from '../services/s3.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { signaturesBy } from '../webhooks/verify.ts';
import { type Billed, Client } from './client.ts';
import { chatStream, cheap, operations, perform } from './operations.ts';
import { createJob, ended, type Job, storeAcross } from './records.ts';
import { startTopology, type Topology } from './stack.ts';

t.setTimeout(patiently(240_000));

/** All services are its own: what they hold is counted to the last row. */
const own = { own: true };
const missing =
  redisMissing(own) ?? kafkaMissing(own) ?? clickHouseMissing(own) ?? qdrantMissing(own) ?? s3Missing(own);

t.test(
  'two gateways, a worker and billing over all services: every operation is counted once',
  { skip: missing ?? false },
  async (t) => {
    const receiver = await startReceiver(t);
    const topology = await startTopology();
    t.teardown(() => topology.stop());
    const [one, two] = topology.gateways;
    const client = new Client(topology.addresses, topology.key);

    const { body: webhook } = await client.json<{ secret: string }>('/webhooks/secret', { address: one.url });
    t.strictSame((await client.json('/webhooks/secret', { address: two.url })).body, webhook, 'one secret');
    const video = await createJob(client, '/videos', one.url, {
      model: 'sluice/video',
      prompt: '/sim render=200ms\nA lock on a canal',
      duration: 4,
      size: '768x768',
      generate_audio: false,
    });
    const song = await createJob(client, '/music', two.url, {
      model: 'sluice/music',
      prompt: '/sim render=500ms\nA waltz',
      duration: 10,
      callback_url: receiver.url,
    });
    const heard = client.ask(`/music/${song.id}/stream`, { address: one.url });
    await perform(client, operations, 6);

    t.equal((await heard).bytes.subarray(0, 4).toString(), 'RIFF', 'a song is heard at the other gateway');
    t.match(await ended(client, '/music', song.id), { status: 'completed', usage: { billed_seconds: 10 } });
    const { status, usage } = await ended(client, '/videos', video.id);
    t.strictSame({ status, seconds: usage?.billed_seconds }, { status: 'completed', seconds: 4 });
    const whole = await client.ask(`/videos/${video.id}/content`, { address: two.url });
    const part = await client.ask(`/videos/${video.id}/content`, {
      address: one.url,
      headers: { range: 'bytes=100-299' },
    });
    t.equal(part.status, 206);
    t.ok(part.bytes.equals(whole.bytes.subarray(100, 300)), 'a part of the video is that part of it');
    await eventually(async () => receiver.deliveries.length > 0, 'the webhook');
    const [delivered] = receiver.deliveries;
    t.equal(delivered && (await signaturesBy(delivered, webhook.secret)), 1, 'signed');
    t.match(JSON.parse(String(delivered?.body)), {
      type: 'music.generation.completed',
      data: { id: song.id, status: 'completed' },
    });

    const { found, context } = await storeAcross(client, one.url, two.url);
    t.match(found, [{ data: [{ content: [{ text: /^Spring tides/ }] }] }, found[0]]);
    t.match(context, found[0]?.data, 'and the chat was given it');

    for (let count = 0; count < 4; count++)
      await client.leave('/chat/completions', {
        stream: true,
        messages: [{ role: 'user', content: '/sim tokens=2000 rate=50/s\nHello' }],
      });

    const noFront = topology.front === undefined ? 'HAProxy is not installed' : false;
    const patient = new Client([topology.front ?? one.url], topology.key);
    await t.test(
      'one gateway is replaced behind the load balancer without failures',
      { skip: noFront },
      async (t) => {
        const load = perform(patient, [...Array(6).fill(chatStream(40, '40/s')), ...cheap, ...cheap], 8);
        await eventually(async () => (await running(one)) > 1, 'streams on it');
        await one.drain();
        await one.revive();
        await load;
        // A connection that arrives in the microseconds between the last accept and the closing of the port is reset.
        t.ok(patient.cut.length <= 1, `${patient.cut.length} of ${patient.billed.length} had to ask again`);
      },
    );

    await t.test('one gateway is killed under load', async (t) => {
      const lost = await createJob(client, '/music', two.url, {
        model: 'sluice/music',
        prompt: '/sim render=1s\nA march',
        duration: 5,
      });
      const load = perform(client, [...Array(9).fill(chatStream(120, '40/s')), ...cheap, ...cheap], 12);
      await eventually(async () => (await running(one)) > 1 && (await running(two)) > 1, 'streams on both');
      await two.kill();
      t.match(await ended(client, '/music', lost.id), { status: 'completed' }, 'its job goes on');
      await load;
      await two.revive();
      await perform(client, cheap, 6);
      t.not(client.cut.length, 0, `${client.cut.length} answers were cut`);
    });

    await t.test('billed usage equals the responses', async (t) => {
      const billed = [...client.billed, ...patient.billed];
      const expected = billed.map(keyed).sort(byKey);
      const least = expected.length + client.left.length;
      await eventually(async () => (await usageRows(client, one.url)).length >= least, 'the rows');
      let reports: readonly Report[] = [];
      await eventually(async () => {
        reports = await verify(topology);
        return reports.every(({ journal, kafka }) => journal.waiting + (kafka?.waiting ?? 0) === 0);
      }, 'all shipped and read');
      const rows = await usageRows(client, one.url);
      const known = new Set(billed.map(({ request_id }) => request_id));
      t.strictSame(
        rows
          .filter((row) => known.has(row.request_id))
          .map(keyed)
          .sort(byKey),
        expected,
      );

      const left = rows.filter((row) => client.left.includes(row.request_id));
      t.strictSame(
        left.map(({ request_id, outcome }) => [request_id, outcome]).sort(),
        client.left.map((id) => [id, 'cancelled']).sort(),
        'each client that left is counted once, for what was made until then',
      );
      t.ok(left.every((row) => row.completion_tokens > 0 && row.completion_tokens < 2000));

      // An answer that was whole in the journal may not have reached its client when the gateway died.
      const others = rows.filter(
        (row) => !known.has(row.request_id) && !client.left.includes(row.request_id),
      );
      const named = others.filter((row) => client.cut.includes(row.request_id));
      t.equal(
        new Set(named.map((row) => row.request_id)).size,
        named.length,
        'a cut answer counts once at most',
      );
      t.ok(others.length - named.length <= client.cut.filter((id) => id === undefined).length);

      t.strictSame(await usageRows(client, two.url), rows, 'both gateways say the same');
      for (const { url } of topology.gateways)
        t.strictSame(await totals(client, url), sumOf(rows), 'and totals are the sums of the rows');

      for (const report of reports) {
        t.match(report, {
          journal: { waiting: 0, damaged: 0 },
          kafka: { waiting: 0, deadLetters: 0, missing: [] },
          ledger: { found: rows.length, missing: [], duplicated: [], altered: [] },
        });
        t.equal((report.kafka?.messages ?? 0) - (report.kafka?.repeated ?? 0), rows.length);
      }
    });

    await t.test('no resources are held', async (t) => {
      const redis = new Redis(topology.redisUrl);
      t.teardown(() => redis.disconnect());
      await eventually(async () => (await leases(redis)) === 0, 'no leases');
      t.strictSame(await redis.keys('sluice:{render-slot}:record:*'), [], 'no render slots');
      for (const gateway of topology.gateways) {
        await eventually(
          async () => (await gauge(gateway.admin, 'sluice_http_in_flight')) === 0,
          'no request',
        );
        t.equal(await gauge(gateway.admin, 'sluice_admission_running'), 0);
        t.equal(await gauge(gateway.admin, 'sluice_journal_lag_bytes'), 0);
        t.equal(await gauge(gateway.admin, 'sluice_admission_shared'), 1);
        t.equal((await fetch(`${gateway.admin}/readyz`)).status, 200);
      }
      const { body } = await client.json<{ data: Job[] }>('/music');
      t.strictSame(new Set(body.data.map(({ status }) => status)), new Set(['completed']));
    });
  },
);

const gauge = async (admin: string, name: string): Promise<number> => {
  const text = await (await fetch(`${admin}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
};

const running = ({ admin }: { readonly admin: string }): Promise<number> =>
  gauge(admin, 'sluice_admission_running');

/** Slots that somebody holds or waits for; those of the dead are free after their time. */
const leases = async (redis: Redis): Promise<number> => {
  const [seconds = 0] = await redis.time();
  let count = 0;
  for (const key of await redis.keys('sluice:admission:*alive'))
    count += await redis.zcount(key, Number(seconds) * 1_000_000, '+inf');
  return count;
};

/** Journals, Kafka and ledger as the operator sees them, from the data of each process; rejects when they differ. */
const verify = ({ gateways, workerData, sluice }: Topology): Promise<readonly Report[]> =>
  Promise.all(
    [...gateways.map((gateway) => gateway.dataDir), workerData].map(
      async (dataDir) => JSON.parse(await sluice(dataDir, 'usage', 'verify', '--json')) as Report,
    ),
  );

const usageRows = async (client: Client, address: string): Promise<readonly Billed[]> => {
  const { body } = await client.json<{ data: UsageRequestRow[]; has_more: boolean }>(
    '/usage?group_by=request&limit=1000',
    { address },
  );
  if (body.has_more) throw new Error('more rows than a page has');
  return body.data.map(({ object: _, id: __, created: ___, key: ____, status: _____, ...row }) => row);
};

const totals = async (client: Client, address: string) => {
  const { body } = await client.json<{ data: UsageTotalRow[] }>('/usage?group_by=model&limit=1000', {
    address,
  });
  return Object.fromEntries(
    body.data.map(({ model, requests, prompt_tokens, completion_tokens, megapixels, seconds, cost }) => [
      model,
      { requests, prompt_tokens, completion_tokens, megapixels, seconds, cost },
    ]),
  );
};

const sumOf = (rows: readonly Billed[]) => {
  const models = [...new Set(rows.map(({ model }) => model))];
  return Object.fromEntries(
    models.map((model) => {
      const some = rows.filter((row) => row.model === model);
      const sum = (of: (row: Billed) => number) => some.reduce((total, row) => total + of(row), 0);
      return [
        model,
        {
          requests: some.length,
          prompt_tokens: sum((row) => row.prompt_tokens),
          completion_tokens: sum((row) => row.completion_tokens),
          megapixels: sum((row) => row.megapixels * 1_000_000) / 1_000_000,
          seconds: sum((row) => row.seconds),
          cost: costOf(some.map((row) => [1, row.cost])),
        },
      ];
    }),
  );
};

/** Some requests are two operations: a question that is embedded, and its answer. */
const keyed = (row: Billed) => ({ key: `${row.request_id} ${row.route} ${row.model}`, ...row });
const byKey = (a: { readonly key: string }, b: { readonly key: string }): number => (a.key < b.key ? -1 : 1);
