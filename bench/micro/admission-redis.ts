/** Measures an admission decision through Redis against a bare round trip: `npx tsx bench/micro/admission-redis.ts`. */

import { Redis } from 'ioredis';
import { firstValueFrom } from 'rxjs';
import { createRedisAdmission } from '../../src/adapters/admission/redis.ts';
import { emitted } from '../../src/helpers/emitted.ts';
import { startRedis } from '../../test/services/redis.ts';

const rounds = 5_000;
const service = await startRedis({ own: true });
const admin = new Redis(service.url);
const admission = createRedisAdmission(service.url, { prefix: 'bench:' });
await admission.check();

const admit = (index: number) =>
  firstValueFrom(
    emitted(
      admission.admit({
        subscription: `sub_${index % 100}`,
        model: 'acme/writer-large',
        limits: { concurrency: 512, requests_per_minute: 60_000 },
      }),
    ),
  );

/** Milliseconds of wall time and of this process's CPU time, sequentially. */
const timed = async (work: (index: number) => Promise<unknown>): Promise<string> => {
  for (let index = 0; index < 1000; index++) await work(index);
  const times: number[] = [];
  const cpu = process.cpuUsage();
  for (let index = 0; index < rounds; index++) {
    const before = performance.now();
    await work(index);
    times.push(performance.now() - before);
  }
  const { user, system } = process.cpuUsage(cpu);
  times.sort((one, other) => one - other);
  const at = (share: number) => `${((times[Math.floor(rounds * share)] ?? 0) * 1000).toFixed(0)} µs`;
  return `median ${at(0.5)}, 99th percentile ${at(0.99)}, ${((user + system) / rounds).toFixed(0)} µs of this process`;
};

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

say(`a bare round trip (PING):           ${await timed(() => admin.ping())}`);
await admin.config('RESETSTAT');
say(`a decision, and its release unawaited: ${await timed(async (index) => (await admit(index)).release())}`);
const stats = await admin.info('commandstats');
const [, calls, microseconds] = /cmdstat_evalsha:calls=(\d+),usec=(\d+)/.exec(stats) ?? [];
say(
  `Redis: ${(Number(microseconds) / Number(calls)).toFixed(1)} µs a call, ${(Number(calls) / (rounds + 1000)).toFixed(2)} calls a request (decision and release)`,
);

/** CPU time of the server so far, in microseconds: other load on the machine hardly changes it. */
const cpuOfRedis = async (): Promise<number> =>
  [...(await admin.info('cpu')).matchAll(/used_cpu_(?:sys|user):([\d.]+)/g)].reduce(
    (sum, [, seconds]) => sum + 1e6 * Number(seconds),
    0,
  );
const commandsOfRedis = async (): Promise<number> =>
  [...(await admin.info('commandstats')).matchAll(/cmdstat_(?!evalsha)\S+:calls=(\d+)/g)].reduce(
    (sum, [, calls]) => sum + Number(calls),
    0,
  );

await admin.config('RESETSTAT');
const cpuBefore = await cpuOfRedis();
const began = performance.now();
await Promise.all(
  Array.from({ length: 64 }, async (_, worker) => {
    for (let index = worker; index < 20_000; index += 64) (await admit(index)).release();
  }),
);
say(`64 at a time: ${Math.round(20_000 / ((performance.now() - began) / 1000))} decisions/s`);
const [cpu, commands] = [(await cpuOfRedis()) - cpuBefore, await commandsOfRedis()];
say(
  `Redis then: ${(cpu / 20_000).toFixed(1)} µs of CPU time and ${(commands / 20_000).toFixed(1)} commands a request, ${(cpu / commands).toFixed(2)} µs a command`,
);

await admission.close();
admin.disconnect();
await service.stop();
