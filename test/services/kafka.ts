/** A Kafka for tests: `KAFKA_BROKERS`, or a single-node KRaft broker from downloaded jars. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { end, freePort, launch, notAskedFor, servicesFolder } from './child.ts';

export interface KafkaService {
  readonly brokers: string;
  /** Kills it as a crash would. */
  kill(): Promise<void>;
  /** Starts it again on the same port and data. */
  revive(): Promise<void>;
  stop(): Promise<void>;
}

const jars = join(servicesFolder, 'kafka', '*');
/** Classes as they lie in memory: halves the time to start. */
const archive = join(servicesFolder, 'kafka.jsa');
const javaOptions = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

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
  const folder = await mkdtemp(join(tmpdir(), 'sluice-kafka-'));
  const [port, controllerPort] = [await freePort(), await freePort()];
  const properties = join(folder, 'server.properties');
  await writeFile(properties, settings(port, controllerPort, join(folder, 'data')));
  // What Kafka's own format command would write, without starting Java once more for it.
  await mkdir(join(folder, 'data'));
  await writeFile(join(folder, 'data', 'meta.properties'), `version=1\ncluster.id=${clusterId}\nnode.id=1\n`);
  const archived = existsSync(archive) ? [`-XX:SharedArchiveFile=${archive}`] : [];
  const launchBroker = () =>
    launch('java', [...javaOptions, ...archived, '-cp', jars, 'kafka.Kafka', properties], () =>
      listens(port),
    );
  let broker = await launchBroker();
  return {
    brokers: `127.0.0.1:${port}`,
    kill: () => end(broker, 'SIGKILL'),
    revive: async () => {
      broker = await launchBroker();
    },
    stop: async () => {
      await end(broker, 'SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const shared = (): string | undefined => process.env.KAFKA_BROKERS || undefined;

const clusterId = 'c2x1aWNlLXRlc3RzLTAwMA';

const settings = (port: number, controllerPort: number, data: string): string =>
  `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controllerPort}
listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}
advertised.listeners=PLAINTEXT://127.0.0.1:${port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs=${data}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
broker.session.timeout.ms=1000
broker.heartbeat.interval.ms=250
controller.quorum.election.timeout.ms=250
controller.quorum.fetch.timeout.ms=1000
initial.broker.registration.timeout.ms=20000
`;

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
