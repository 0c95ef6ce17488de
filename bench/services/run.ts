/** Measures Sluice with Redis, Kafka and ClickHouse beside Sluice with its embedded stores. */

import type { Progress } from '../../test/progress.ts';
import { clickHouseMissing, startClickHouse } from '../../test/services/clickhouse.ts';
import { kafkaMissing, startKafka } from '../../test/services/kafka.ts';
import { redisMissing, startRedis } from '../../test/services/redis.ts';
import { profileAll } from '../profile.ts';
import { Results } from '../results.ts';
import { run } from '../run.ts';
import { type Scenario, scenarios } from '../scenarios.ts';
import type { SubjectRow } from '../subjects.ts';

export interface ServicesPlan {
  /** The entry of Sluice with its embedded stores. */
  readonly sluice: SubjectRow;
  readonly full: boolean;
  readonly rounds: number;
  readonly progress: Progress;
}

const measured = ['whole', 'fast', 'paced200'];

export const serviceScenarios = (full: boolean): readonly Scenario[] =>
  scenarios(full)
    .filter(({ name }) => measured.includes(name))
    .map((scenario) => ({
      ...scenario,
      name: `services/${scenario.name}`,
      title: `services: ${scenario.title}`,
      reference: 'embedded',
    }));

/** In the order of the tables. The last one leaves the way from Kafka to ClickHouse to a process of its own. */
export const serviceSubjects: readonly string[] = ['embedded', 'services', 'billing-apart'];

/** Why the services cannot be measured here; undefined when they can. */
export const servicesMissing = (): string | undefined =>
  [redisMissing(), kafkaMissing(), clickHouseMissing()].find((reason) => reason !== undefined);

export const runServices = async (plan: ServicesPlan): Promise<Results> => {
  const { full, rounds, progress } = plan;
  const results = await withServices(plan, (rows) =>
    run({ rows, scenarios: serviceScenarios(full), rounds, full, progress }),
  );
  return results ?? new Results();
};

export const profileServices = async (plan: ServicesPlan): Promise<void> => {
  await withServices(plan, (rows) => profileAll(rows, serviceScenarios(plan.full), plan.progress));
};

/** Starts the services, and ends them when `use` is done with the subjects; undefined where one cannot be had. */
const withServices = async <Used>(
  { sluice, progress }: ServicesPlan,
  use: (rows: readonly SubjectRow[]) => Promise<Used>,
): Promise<Used | undefined> => {
  const missing = servicesMissing();
  if (missing !== undefined) {
    progress.say(`services are left out: ${missing}`);
    return undefined;
  }
  progress.begin('starting Redis, Kafka and ClickHouse');
  const redis = await startRedis({ own: true });
  const kafka = await startKafka({ own: true });
  const clickHouse = await startClickHouse({ own: true });
  const configured = (name: string, more: Readonly<Record<string, string>>): SubjectRow => ({
    ...sluice,
    name,
    environment: {
      ...sluice.environment,
      REDIS_URL: redis.url,
      KAFKA_BROKERS: kafka.brokers,
      CLICKHOUSE_URL: clickHouse.url,
      ...more,
    },
  });
  try {
    return await use([
      { ...sluice, name: 'embedded' },
      configured('services', {}),
      configured('billing-apart', { SLUICE_BILLING: 'apart', KAFKA_PREFIX: 'apart' }),
    ]);
  } finally {
    await Promise.all([redis.stop(), kafka.stop(), clickHouse.stop()]);
  }
};
