/** Compares Kafka clients: events per second, CPU time per event, and what the loss of a broker does. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { createKafkaEvents } from '../../src/adapters/events/kafka.ts';
import { topicName } from '../../src/adapters/events/kafka-client.ts';
import { healed } from '../../test/billing/kafka-load.ts';
import type { Packages } from '../../test/clients/packages.ts';
import { readCommandLine } from '../../test/command-line.ts';
import { type KafkaCluster, kafkaMissing, startKafkaCluster } from '../../test/services/kafka.ts';
import { describeMachine } from '../measure.ts';
import { install, installedIn } from '../peers/install.ts';
import { figure, table } from '../report.ts';
import type { Moved, Survived, Work } from './work.ts';

interface Candidate {
  readonly name: string;
  /** File in `clients`. */
  readonly file: string;
  /** Undefined: the project has it. */
  readonly packages?: Packages;
}

/** Its folder in the cache. */
const slug = (file: string): string => `kafka-${file}`;

const npm = (name: string, version: string, scripts = false): Packages => ({
  registry: 'npm',
  packages: { [name]: version },
  scripts,
});

const candidates: readonly Candidate[] = [
  { name: 'kafkajs 2.2.4, our adapter', file: 'kafkajs' },
  { name: 'kafkajs 2.2.4, its own retries', file: 'kafkajs-retries' },
  {
    name: '@platformatic/kafka 1.34.0',
    file: 'platformatic',
    packages: npm('@platformatic/kafka', '1.34.0'),
  },
  {
    name: '@platformatic/kafka 2.12.1',
    file: 'platformatic',
    packages: npm('@platformatic/kafka', '2.12.1'),
  },
  {
    name: '@confluentinc/kafka-javascript 1.10.1',
    file: 'confluent',
    // Its script gets a binary, or compiles librdkafka.
    packages: npm('@confluentinc/kafka-javascript', '1.10.1', true),
  },
];

const { values } = readCommandLine({
  command: 'npm run bench:kafka',
  summary: `Compares Kafka clients (${candidates.map(({ name }) => name).join('; ')}). Needs Java and Kafka's jars (test/services/fetch kafka).`,
  options: {
    client: { value: 'TEXT', help: 'only candidates with this in their names' },
    events: {
      value: 'N',
      help: 'published and consumed by each',
      from: 100,
      to: 10_000_000,
      default: 100_000,
    },
    rounds: {
      value: 'N',
      help: 'of publishing and consuming; the median counts',
      from: 1,
      to: 100,
      default: 3,
    },
    outages: {
      value: 'N',
      help: 'rounds of: one broker killed and started again, one shut down and started again',
      from: 0,
      to: 100,
      default: 1,
    },
    node: {
      value: 'VERSION',
      help: 'run the candidates by this version of Node from the registry, such as 24',
    },
  },
});
const missing = kafkaMissing({ own: true });
if (missing !== undefined) {
  console.error(missing);
  process.exit(1);
}
const root = fileURLToPath(new URL('../..', import.meta.url));
const node =
  values.node === undefined
    ? process.execPath
    : join(
        execFileSync(join(root, 'test/node/fetch'), [values.node], { stdio: ['ignore', 'pipe', 'ignore'] })
          .toString()
          .trim(),
        'node',
      );

const start = (work: Work): ChildProcess =>
  spawn(node, ['--import', 'tsx', fileURLToPath(new URL('work.ts', import.meta.url)), JSON.stringify(work)], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });

/** The line it prints. Whatever hangs is ended. */
const resultOf = async <T>(child: ChildProcess, seconds: number): Promise<T> => {
  const late = setTimeout(() => child.kill('SIGKILL'), seconds * 1000);
  let text = '';
  child.stdout?.on('data', (part) => {
    text += part;
  });
  const [code] = await once(child, 'close');
  clearTimeout(late);
  if (code !== 0) throw new Error(`the client ended with ${code ?? `nothing within ${seconds} s`}`);
  return JSON.parse(text);
};

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

/** A topic of its own, as gateways make it. */
const newWork = async (
  { file, packages }: Candidate,
  cluster: KafkaCluster,
): Promise<Pick<Work, 'client' | 'options'>> => {
  const brokers = cluster.brokers.split(',');
  const prefix = `bench-${randomBytes(4).toString('hex')}`;
  const events = createKafkaEvents({ brokers, prefix }, pino({ level: 'silent' }));
  await events.check();
  await events.close();
  const topic = topicName({ brokers, prefix }, 'usage');
  const name = slug(file);
  const folder = packages === undefined ? root : installedIn({ name, install: packages });
  return { client: file, options: { brokers, prefix, topic, group: `${prefix}.billing`, folder } };
};

const move = async (candidate: Candidate, cluster: KafkaCluster): Promise<readonly string[]> => {
  const { events } = values;
  const [published, consumed]: [Moved[], Moved[]] = [[], []];
  for (let round = 0; round < values.rounds; round++) {
    const work = await newWork(candidate, cluster);
    published.push(await resultOf<Moved>(start({ ...work, role: 'publish', events }), 120));
    consumed.push(await resultOf<Moved>(start({ ...work, role: 'consume', events }), 150));
  }
  const show = (all: readonly Moved[]) => [
    Math.round(median(all.map(({ perSecond }) => perSecond))).toLocaleString('en'),
    figure(median(all.map(({ cpu }) => cpu))),
    figure(median(all.map(({ megabytes }) => megabytes))),
  ];
  return [candidate.name, ...show(published), ...show(consumed)];
};

const survive = async (candidate: Candidate, cluster: KafkaCluster): Promise<readonly string[]> => {
  const work = await newWork(candidate, cluster);
  const child = start({ ...work, role: 'survive', events: 0 });
  const result = resultOf<Survived>(child, 120 + 120 * values.outages);
  await delay(6_000);
  for (let outage = 0; outage < values.outages; outage++) {
    for (const [index, end] of [
      [outage, 'kill'],
      [outage + 1, 'shutDown'],
    ] as const) {
      const victim = cluster.nodes[index % cluster.nodes.length];
      await victim?.[end]();
      await delay(12_000);
      await victim?.revive();
      await healed(work.options);
      await delay(5_000);
    }
  }
  child.stdin?.end();
  const { acknowledged, refused, publishGap, consumeGap, lost, copies } = await result;
  return [
    candidate.name,
    ...[acknowledged, refused, publishGap, consumeGap, copies, lost].map((n) => n.toLocaleString('en')),
  ];
};

const chosen = candidates.filter(({ name }) => values.client === undefined || name.includes(values.client));
if (chosen.length === 0) {
  console.error(`no candidate has ${values.client} in its name`);
  process.exit(2);
}
const moved: (readonly string[])[] = [];
const survived: (readonly string[])[] = [];
const cluster = await startKafkaCluster(3);
try {
  for (const candidate of chosen) {
    const { file, packages } = candidate;
    const problem =
      packages === undefined ? undefined : await install({ name: slug(file), install: packages });
    if (problem !== undefined) {
      console.error(`${candidate.name}: left out, ${problem}`);
      continue;
    }
    try {
      console.error(`${candidate.name} …`);
      if (values.rounds > 0) moved.push(await move(candidate, cluster));
      if (values.outages > 0) survived.push(await survive(candidate, cluster));
    } catch (error) {
      console.error(`${candidate.name}: failed, ${error instanceof Error ? error.message : error}`);
    }
  }
} finally {
  await cluster.stop();
}
const machine = { ...describeMachine(), node: execFileSync(node, ['--version']).toString().trim() };
console.log(`${Object.values(machine).join(', ')}\n`);
if (moved.length > 0)
  console.log(table([['client', 'published/s', 'µs CPU', 'MB', 'consumed/s', 'µs CPU', 'MB'], ...moved]));
if (survived.length > 0)
  console.log(
    table([
      ['client', 'acknowledged', 'refused', 'publish gap, ms', 'consume gap, ms', 'copies', 'lost'],
      ...survived,
    ]),
  );
process.exit(0);
