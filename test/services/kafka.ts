/** A Kafka for tests: `KAFKA_BROKERS`, or KRaft brokers from downloaded jars. */
import { type ChildProcess, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import {
  type Disturbed,
  dataFolder,
  disturbed,
  end,
  freePort,
  launch,
  notAskedFor,
  servicesFolder,
} from './child.ts';

/** One broker, also a controller. */
export interface KafkaNode extends Disturbed {
  readonly id: number;
  readonly address: string;
  /** Ends it as an operator would: its partitions get other leaders first. */
  shutDown(): Promise<void>;
}

export interface KafkaCluster {
  readonly brokers: string;
  readonly nodes: readonly KafkaNode[];
  stop(): Promise<void>;
}

export interface KafkaService extends Pick<KafkaCluster, 'brokers' | 'stop'> {
  kill(): Promise<void>;
  revive(): Promise<void>;
}

/** What a broker has beside the usual: listeners, and what is done with its folder before it starts. */
export interface KafkaExtras {
  /** Name, port and protocol of each. */
  readonly listeners: readonly { readonly name: string; readonly port: number; readonly protocol: string }[];
  readonly properties: string;
  /** Formats the storage; without it, ours is enough. */
  format?(properties: string): Promise<void>;
}

const jars = join(servicesFolder, 'kafka', '*');
/** Classes as they lie in memory: halves the time to start. */
const archive = join(servicesFolder, 'kafka.jsa');
const javaOptions = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

/** Arguments of `java` for a class of Kafka's. */
export const kafkaJava = (main: string, ...args: readonly string[]): readonly string[] => [
  ...javaOptions,
  ...(existsSync(archive) ? [`-XX:SharedArchiveFile=${archive}`] : []),
  '-cp',
  jars,
  main,
  ...args,
];

/** Why there is no Kafka to test with; undefined when there is one. */
export const kafkaMissing = ({ own = false } = {}): string | undefined => {
  if (!own && shared() !== undefined) return undefined;
  const excuse = notAskedFor();
  if (excuse !== undefined) return excuse;
  if (!existsSync(join(servicesFolder, 'kafka')))
    return `no Kafka: test/services/fetch gets one${own ? '' : ', or set KAFKA_BROKERS'}`;
  return spawnSync('java', ['-version'], { stdio: 'ignore' }).status === 0 ? undefined : 'no java on PATH';
};

export const startKafka = async ({ own = false } = {}): Promise<KafkaService> => {
  const brokers = shared();
  if (brokers !== undefined && !own) {
    const refuse = () => Promise.reject(new Error('This Kafka is not ours to end.'));
    return { brokers, kill: refuse, revive: refuse, stop: async () => undefined };
  }
  const cluster = await startKafkaCluster(1);
  const [node] = cluster.nodes;
  if (node === undefined) throw new Error('no node');
  return { brokers: cluster.brokers, kill: node.kill, revive: node.revive, stop: cluster.stop };
};

export const startKafkaCluster = async (count: number, extras?: KafkaExtras): Promise<KafkaCluster> => {
  const folder = await dataFolder('kafka');
  const members: Member[] = [];
  for (let id = 1; id <= count; id++)
    members.push({ id, port: await freePort(), controllerPort: await freePort() });
  const started = await Promise.allSettled(
    members.map((member) => startNode(folder, member, members, extras)),
  );
  const nodes = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.kill()));
    await rm(folder, { recursive: true, force: true });
  };
  const failed = started.find((each) => each.status === 'rejected');
  if (failed !== undefined) {
    await stop();
    throw failed.reason;
  }
  return { brokers: nodes.map(({ address }) => address).join(','), nodes, stop };
};

interface Member {
  readonly id: number;
  readonly port: number;
  readonly controllerPort: number;
}

const startNode = async (
  folder: string,
  member: Member,
  members: readonly Member[],
  extras: KafkaExtras | undefined,
): Promise<KafkaNode> => {
  const { id, port } = member;
  const data = join(folder, `data-${id}`);
  const properties = join(folder, `server-${id}.properties`);
  await writeFile(properties, settings(member, members, data, extras));
  await mkdir(data);
  if (extras?.format === undefined)
    // What Kafka's own format command would write, without starting Java once more for it.
    await writeFile(join(data, 'meta.properties'), `version=1\ncluster.id=${clusterId}\nnode.id=${id}\n`);
  else await extras.format(properties);
  let broker: ChildProcess | undefined;
  const own = await disturbed(async () => {
    broker = await launch('java', kafkaJava('kafka.Kafka', properties), () => listens(port));
    return broker;
  });
  return {
    id,
    address: `127.0.0.1:${port}`,
    ...own,
    shutDown: async () => {
      if (broker !== undefined) await end(broker, 'SIGTERM');
    },
  };
};

const shared = (): string | undefined => process.env.KAFKA_BROKERS || undefined;

export const clusterId = 'c2x1aWNlLXRlc3RzLTAwMA';

const settings = (
  { id, port, controllerPort }: Member,
  members: readonly Member[],
  data: string,
  { listeners = [], properties = '' }: Partial<KafkaExtras> = {},
): string => {
  const copies = Math.min(3, members.length);
  // Several on a busy machine keep each other waiting, and are not to be taken for dead.
  const patience = members.length === 1 ? 1_000 : 3_000;
  const own = listeners.map((listener) => `,${listener.name}://127.0.0.1:${listener.port}`).join('');
  return `process.roles=broker,controller
node.id=${id}
controller.quorum.voters=${members.map((each) => `${each.id}@127.0.0.1:${each.controllerPort}`).join(',')}
listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}${own}
advertised.listeners=PLAINTEXT://127.0.0.1:${port}${own}
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT${listeners.map(({ name, protocol }) => `,${name}:${protocol}`).join('')}
log.dirs=${data}
offsets.topic.replication.factor=${copies}
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=${copies}
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
broker.session.timeout.ms=${patience}
broker.heartbeat.interval.ms=250
controller.quorum.election.timeout.ms=${patience / 4}
controller.quorum.fetch.timeout.ms=${patience}
initial.broker.registration.timeout.ms=20000
${properties}`;
};

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
