/** Starts the built gateway as a child process with two subscriptions: an attacker and a victim. */
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openState } from '../../src/adapters/state/open.ts';
import { loadConfig } from '../../src/config.ts';
import { createKeyManagement } from '../../src/keys/manage.ts';
import { createLimitsManagement } from '../../src/limits/manage.ts';
import { answers } from '../chaos/stack.ts';
import { end, freePort, launch } from '../services/child.ts';

export interface GatewaySettings {
  readonly environment?: Readonly<Record<string, string>>;
  /** Text of its `sluice.yaml`; without it the default catalog on the simulator. */
  readonly catalog?: (ports: DoublePorts) => string;
  /** MiB of a file system that holds its data folder and nothing else. */
  readonly diskMegabytes?: number;
  /** Address of the only nameserver it knows. */
  readonly nameserver?: string;
}

/** Where doubles of engines listen. */
export interface DoublePorts {
  readonly attacker: number;
  readonly victim: number;
}

export interface AttackedGateway {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly keys: { readonly attacker: string; readonly victim: string };
  readonly doubles: DoublePorts;
  /** How it ended; undefined while it runs. */
  ending(): string | undefined;
  stop(): Promise<void>;
}

const command = fileURLToPath(new URL('../../bin/sluice.mjs', import.meta.url));

/** Why the settings cannot be applied on this machine; undefined when they can. */
export const unsupported = ({ diskMegabytes, nameserver }: GatewaySettings): string | undefined =>
  (diskMegabytes === undefined && nameserver === undefined) || canMount()
    ? undefined
    : 'needs Linux and root, for a file system of its own';

const canMount = (): boolean => process.platform === 'linux' && process.getuid?.() === 0;

export const startAttackedGateway = async (
  settings: GatewaySettings,
  attackerRpm: number,
): Promise<AttackedGateway> => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-attack-'));
  try {
    const [port, attacker, victim] = [await freePort(), await freePort(), await freePort()];
    const doubles = { attacker, victim };
    const url = `http://127.0.0.1:${port}/v1`;
    const dataDir = join(folder, 'data');
    const keys = await createSubscriptions(dataDir, attackerRpm);
    const environment = environmentOf(folder, port, dataDir, settings, doubles);
    const [program, ...args] = commandLine(folder, settings);
    const child = await launch(program, args, () => answers(url), environment);
    return {
      url,
      port,
      pid: child.pid ?? 0,
      keys,
      doubles,
      ending: () => endingOf(child),
      stop: async () => {
        await end(child, 'SIGKILL');
        rmSync(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
};

const endingOf = ({ exitCode, signalCode }: ChildProcess): string | undefined =>
  signalCode ?? (exitCode === null ? undefined : `exit code ${exitCode}`);

const createSubscriptions = async (dataDir: string, attackerRpm: number) => {
  const state = await openState(loadConfig({ SLUICE_DATA: dataDir }));
  try {
    const management = createKeyManagement(state);
    const secretOf = async (name: string): Promise<string> => {
      await management.createSubscription(name);
      return (await management.createKey({ subscription: name })).secret;
    };
    const keys = { attacker: await secretOf('attacker'), victim: await secretOf('victim') };
    const { id } = await management.findSubscription('attacker');
    await createLimitsManagement(state).set(id, undefined, { requests_per_minute: attackerRpm });
    return keys;
  } finally {
    await state.close();
  }
};

const environmentOf = (
  folder: string,
  port: number,
  dataDir: string,
  { environment, catalog, diskMegabytes, nameserver }: GatewaySettings,
  doubles: DoublePorts,
): NodeJS.ProcessEnv => {
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary);
  const configFile = join(folder, 'sluice.yaml');
  if (catalog !== undefined) writeFileSync(configFile, catalog(doubles));
  return {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    PORT: String(port),
    SLUICE_ADMIN_PORT: 'off',
    SLUICE_DATA: diskMegabytes === undefined ? dataDir : join(folder, 'disk'),
    SLUICE_DRAIN_SECONDS: '1',
    LOG_LEVEL: 'error',
    TMPDIR: temporary,
    ...(catalog === undefined ? {} : { SLUICE_CONFIG: configFile }),
    ...(nameserver === undefined ? {} : { SLUICE_DNS_SERVERS: nameserver }),
    ...environment,
  };
};

/**
 * Mounts are in a namespace of the gateway alone and end with it. The nameserver also becomes that of the system's
 * resolver, which always uses port 53.
 */
const commandLine = (
  folder: string,
  { diskMegabytes, nameserver }: GatewaySettings,
): readonly [string, ...string[]] => {
  const serve = [process.execPath, command, 'serve'] as const;
  const steps: string[] = [];
  if (diskMegabytes !== undefined) {
    const disk = join(folder, 'disk');
    mkdirSync(disk);
    steps.push(`mount -t tmpfs -o size=${diskMegabytes}m none ${disk}`, `cp -a ${folder}/data/. ${disk}`);
  }
  if (nameserver !== undefined) {
    const file = join(folder, 'resolv.conf');
    writeFileSync(file, `nameserver ${nameserver.replace(/:\d+$/, '')}\n`);
    steps.push(`mount --bind ${file} /etc/resolv.conf`);
  }
  if (steps.length === 0) return serve;
  return ['unshare', '--mount', 'sh', '-c', `${steps.join(' && ')} && exec "$@"`, 'sh', ...serve];
};
