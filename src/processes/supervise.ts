/** `sluice serve --processes N`: runs N gateway processes on one port and replaces those that die. */
import cluster from 'node:cluster';
import type { Logger } from 'pino';
import { linkOrigin } from '../adapters/blobs/s3-settings.ts';
import { gatheredApi } from '../admin/gather.ts';
import { type AdminServer, startAdmin } from '../admin/server.ts';
import { type Config, supervised } from '../config.ts';
import { openPages } from '../console/open.ts';
import { ensureFree, linkTo } from '../helpers/address.ts';
import { stopOnFatalError } from '../helpers/fatal.ts';
import { exposition } from '../metrics/exposition.ts';
import { welcome } from '../welcome.ts';
import { ProcessGroup } from './process-group.ts';

export interface SupervisorOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly processes: number;
  /** Called once, when all processes listen. */
  readonly show: (text: string) => void;
}

export const supervise = async ({ config, log, processes, show }: SupervisorOptions): Promise<void> => {
  // Its processes share the port; with any other program it must not be shared unnoticed.
  const port = await ensureFree(config);
  cluster.setupPrimary({ exec: process.argv[1] ?? '', args: ['serve'] });
  const group = new ProcessGroup({
    env: {
      SLUICE_ADMIN_PORT: config.admin === undefined ? 'off' : supervised,
      PORT: String(port),
      SLUICE_SHARED_PORT: '1',
    },
    log,
    watchdogSeconds: config.watchdogSeconds,
  });
  let admin: AdminServer | undefined;
  try {
    // Before the first process, which may create the only key: a start that fails must not.
    admin =
      config.admin &&
      (await startAdmin({
        ...config.admin,
        metrics: async () => exposition(await group.families()),
        unready: () => group.unready(),
        pages: openPages({
          enabled: config.console,
          publicUrl: () =>
            config.publicUrl ?? linkTo(config.tls === undefined ? 'http' : 'https', { ...config, port }),
          mediaOrigins: config.s3 === undefined ? [] : [linkOrigin(config.s3)],
          log,
        })?.console,
        api: gatheredApi((request, whom) => group.admin(request, whom)),
      }));
    const { greeting } = await group.start(processes);
    stopOnFatalError(log, config.drainMs, () => group.end());
    // Who reads that it is there may stop it at once.
    const stopped = runUntilSignal(group);
    show(welcome({ ...greeting, adminUrl: admin?.url, processes, config }));
    await stopped;
  } finally {
    await group.end();
    await admin?.close();
  }
};

const runUntilSignal = (group: ProcessGroup): Promise<void> =>
  new Promise((resolve) => {
    process.on('SIGHUP', () => group.reload());
    process.on('SIGUSR2', () => group.replaceAll());
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => {
      resolve();
      // A second interrupt does not wait for the drain.
      process.once('SIGINT', () => process.exit(130));
    });
  });
