/** The contract suites of all adapters on Redis, on whatever address it has. */
import { randomBytes } from 'node:crypto';
import type { Test } from 'tap';
import { lostEvents } from '../../pipelines/core/last-events.ts';
import { createRedisAdmission } from '../../src/adapters/admission/redis.ts';
import { RedisAllowances, type RedisAllowancesOptions } from '../../src/adapters/allowances/redis.ts';
import type { RedisAddress } from '../../src/adapters/redis-settings.ts';
import { openRedisState } from '../../src/adapters/state/redis.ts';
import { LocalStreams } from '../../src/adapters/streams/local.ts';
import { RedisStreams } from '../../src/adapters/streams/redis.ts';
import { VirtualClock } from '../admission/virtual-clock.ts';
import { type AdmissionSubject, admissionContract, type OpenAdmission } from './admission.ts';
import { type AllowancesSubject, allowancesContract, type OpenAllowances } from './allowances.ts';
import { stateContract } from './state.ts';
import { streamsContract } from './streams.ts';

const newPrefix = (): string => `sluice-test-${randomBytes(6).toString('hex')}:`;

/** `runs`: random histories of each suite that has some. */
export const redisContracts = async (t: Test, address: RedisAddress, runs = 10): Promise<void> => {
  const prefix = newPrefix();
  await t.test('state', (t) => stateContract(t, () => openRedisState(address, { prefix })));
  await t.test('admission', (t) => admissionContract(t, admissionOn(address), runs));
  await t.test('allowances', (t) => allowancesContract(t, allowancesOn(address), runs));
  await t.test('streams', async (t) => {
    const open = () => openStreams(address, prefix, t.testdir());
    const [writer, reader] = await Promise.all([open(), open()]);
    t.teardown(() => Promise.all([writer.close(), reader.close()]));
    await streamsContract(t, { writer, reader, streamBytes: streamLimits.streamBytes });
  });
};

export const admissionOn =
  (address: RedisAddress): OpenAdmission =>
  async (rules): Promise<AdmissionSubject> => {
    const clock = new VirtualClock();
    // Renewals so seldom that virtual hours do not take real seconds.
    const options = { ...rules, clock, ttlMs: 120_000, prefix: newPrefix() };
    const replicas = [
      createRedisAdmission(address, options),
      createRedisAdmission(address, options),
    ] as const;
    await Promise.all(replicas.map((replica) => replica.check()));
    return { replicas, clock, close: () => closeAll(replicas) };
  };

export const allowancesOn =
  (address: RedisAddress): OpenAllowances =>
  async (spent = async () => 0): Promise<AllowancesSubject> => {
    const clock = new VirtualClock();
    const wallClock = () => clock.now();
    // Heartbeats so seldom that virtual hours do not take real seconds; no shares, which count as reserved.
    const options = { clock, wallClock, prefix: newPrefix(), ttlMs: 3_600_000, fallback: 'refuse' as const };
    const replicas = [
      new RedisAllowances(address, { ...aloneProcess(), ...options, spent }),
      new RedisAllowances(address, { ...aloneProcess(), ...options, spent }),
    ] as const;
    await clock.advance(0);
    await Promise.all(replicas.map((replica) => replica.check()));
    return { replicas, clock, close: () => closeAll(replicas) };
  };

/** An empty ledger, and no journal. */
export const aloneProcess = (): Pick<
  RedisAllowancesOptions,
  'process' | 'spent' | 'ledger' | 'markCutOff'
> => ({
  process: randomBytes(6).toString('hex'),
  spent: async () => 0,
  ledger: { list: async () => [] },
  markCutOff: () => undefined,
});

const kibibyte = 1024;
export const streamLimits = {
  streamBytes: 512 * kibibyte,
  allBytes: 8192 * kibibyte,
  memoryBytes: 4096 * kibibyte,
  spillBytes: 64 * kibibyte,
};

export const openStreams = async (
  address: RedisAddress,
  prefix: string,
  folder: string,
  deadMs = 10_000,
): Promise<RedisStreams> => {
  const local = new LocalStreams({ folder, mostGraceMs: 60_000, limits: streamLimits, sweepMs: 50 });
  const streams = new RedisStreams(address, { local, lost: lostEvents, prefix, deadMs });
  await streams.check();
  return streams;
};

const closeAll = async (all: readonly { close(): Promise<void> }[]): Promise<void> => {
  await Promise.all(all.map((each) => each.close()));
};
