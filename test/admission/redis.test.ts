/** Admission shared through Redis. */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { createRedisAdmission } from '../../src/adapters/admission/redis.ts';
import { admissionContract } from '../contracts/admission.ts';
import { redisMissing, startRedis } from '../services/redis.ts';
import { VirtualClock } from './virtual-clock.ts';

const skip = redisMissing();

t.test('contract', { skip: skip ?? false }, async (t) => {
  const service = await startRedis();
  t.teardown(() => service.stop());
  const prefix = `sluice-test-${randomBytes(6).toString('hex')}:`;
  let houses = 0;
  await admissionContract(
    t,
    async (rules) => {
      const clock = new VirtualClock();
      // Renewals so seldom that virtual hours do not take real seconds.
      const options = { ...rules, clock, ttlMs: 120_000, prefix: `${prefix}${houses++}:` };
      const replicas = [
        createRedisAdmission(service.url, options),
        createRedisAdmission(service.url, options),
      ] as const;
      await Promise.all(replicas.map((replica) => replica.check()));
      return {
        replicas,
        clock,
        close: async () => {
          await Promise.all(replicas.map((replica) => replica.close()));
        },
      };
    },
    25,
  );
});
