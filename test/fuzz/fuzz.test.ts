/** A short fuzz run with a fixed seed: every response matches the OpenAPI document. */
import t from 'tap';
import { orLong } from '../long.ts';
import { startFuzzGateway } from './gateway.ts';
import { runFuzz } from './run.ts';

const seed = 20_261_116;

/** Only when a render has come far enough by then. */
const sometimesServed = new Set(['getVideosByIdContent', 'getMusicByIdContent', 'getMusicByIdStream']);

t.test('valid and broken requests to every route', async (t) => {
  const gateway = await startFuzzGateway();
  t.teardown(() => gateway.stop());
  const { findings, counts } = await runFuzz({
    url: gateway.url,
    key: gateway.key,
    seed,
    requests: orLong(400, 750),
    concurrency: 8,
    patience: 60_000,
    maxFindings: 10,
  });
  t.comment(`seed ${seed}; a longer run: npm run fuzz -- --seed ${seed} --requests 20000`);
  for (const { number, operation, status, problems, curl } of findings)
    t.comment(`${operation} (--only ${number}) answered ${status}\n${problems.join('\n')}\n${curl}`);
  t.same(
    findings.map(({ operation, status, problems }) => ({ operation, status, problems })),
    [],
  );
  const served = [...counts].filter(([, statuses]) => [...statuses.keys()].some((status) => status < 300));
  const never = [...counts.keys()].filter(
    (id) => !served.some(([known]) => known === id) && !sometimesServed.has(id),
  );
  t.same(never, [], 'every route has served some of them');
  t.equal(Reflect.get({}, 'polluted'), undefined, 'no prototype was touched');
  t.equal((await fetch(`${gateway.url}/health`, { headers: { 'x-api-key': gateway.key } })).status, 200);
});
