/** Prints which services the suites can use on this machine, and which are missing. */
import { clickHouseMissing } from './clickhouse.ts';
import { dnsMissing } from './dns.ts';
import { kafkaMissing } from './kafka.ts';
import { qdrantMissing } from './qdrant.ts';
import { redisMissing } from './redis.ts';
import { s3Missing } from './s3.ts';

const services = {
  redis: redisMissing(),
  kafka: kafkaMissing(),
  clickhouse: clickHouseMissing(),
  qdrant: qdrantMissing(),
  s3: s3Missing(),
  dns: dnsMissing(),
};
const names = (there: boolean): string =>
  Object.entries(services)
    .filter(([, missing]) => (missing === undefined) === there)
    .map(([name]) => name)
    .join(' ') || 'none';

console.log(`services exercised: ${names(true)}; not to be had: ${names(false)}`);
