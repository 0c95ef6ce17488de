/** A Keeper for the replicated tables of ClickHouse: the ZooKeeper among the jars of Kafka. */
import { rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { dataFolder, end, freePort, launch, servicesFolder } from './child.ts';
import { kafkaMissing } from './kafka.ts';

export interface KeeperService {
  readonly port: number;
  stop(): Promise<void>;
}

/** Why there is none to test with; undefined when there is one. */
export const keeperMissing = (): string | undefined => kafkaMissing({ own: true });

export const startKeeper = async (): Promise<KeeperService> => {
  const folder = await dataFolder('keeper');
  const port = await freePort();
  const settings = join(folder, 'zoo.cfg');
  await writeFile(
    settings,
    `tickTime=2000\ndataDir=${join(folder, 'data')}\nclientPort=${port}\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n`,
  );
  const main = 'org.apache.zookeeper.server.quorum.QuorumPeerMain';
  const jars = join(servicesFolder, 'kafka', '*');
  const keeper = await launch(
    'java',
    ['-Xmx128m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', jars, main, settings],
    () => serves(port),
  );
  return {
    port,
    stop: async () => {
      await end(keeper, 'SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** It listens before it takes sessions, and may then neither reply nor close the connection. */
const serves = async (port: number): Promise<boolean> => {
  const socket = connect(port, '127.0.0.1');
  socket.setTimeout(1_000, () => socket.destroy());
  try {
    socket.write('srvr');
    return (await text(socket)).includes('Zookeeper version');
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
};
