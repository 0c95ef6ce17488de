/** `sluice serve --processes N`: so many gateways on one port; one that dies is replaced, and all can be, one by one, without a request being lost. */
import cluster from 'node:cluster';
import type { Logger } from 'pino';
import { type AdminServer, startAdmin } from '../admin/server.ts';
import type { Config } from '../config.ts';
import { ensureFree } from '../http/address.ts';
import { exposition } from '../metrics/exposition.ts';
import { welcome } from '../welcome.ts';
import { Family } from './family.ts';

export interface SupervisorOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly processes: number;
  /** Shown once, when all listen. */
  readonly show: (text: string) => void;
}

export const supervise = async (options: SupervisorOptions): Promise<void> => {
  const { config, log } = options;
  // Its gateways share the port; it must not be shared with anybody else unnoticed.
  const port = await ensureFree(config);
  cluster.setupPrimary({ exec: process.argv[1] ?? '', args: ['serve'] });
  const family = new Family({ SLUICE_ADMIN_PORT: 'off', PORT: String(port), SLUICE_SHARED_PORT: '1' }, log);
  let admin: AdminServer | undefined;
  try {
    const { greeting } = await family.begin(options.processes);
    admin =
      config.admin &&
      (await startAdmin({
        ...config.admin,
        metrics: async () => exposition(await family.families()),
        unready: () => family.unready(),
      }));
    options.show(welcome({ ...greeting, adminUrl: admin?.url, processes: options.processes, config }));
    await runUntilSignal(family);
  } finally {
    await family.end();
    await admin?.close();
  }
};

const runUntilSignal = (family: Family): Promise<void> =>
  new Promise((resolve) => {
    process.on('SIGHUP', () => family.reload());
    process.on('SIGUSR2', () => family.replaceAll());
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => {
      resolve();
      // Whoever asks twice does not want to wait.
      process.once('SIGINT', () => process.exit(130));
    });
  });
