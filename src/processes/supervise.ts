/** `sluice serve --processes N`: so many gateways on one port; one that dies is replaced, and all can be, one by one, without a request being lost. */
import cluster from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { startAdmin } from '../admin/server.ts';
import type { Config } from '../config.ts';
import { ensureFree } from '../http/address.ts';
import { exposition, merged } from '../metrics/exposition.ts';
import { welcome } from '../welcome.ts';
import { Child } from './child.ts';

const firstPause = 500;
const longestPause = 30_000;
/** A process that ran this long had started well: its death is not the next one's fault. */
const steadyMs = 60_000;

export interface SupervisorOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly processes: number;
  /** Shown once, when all listen. */
  readonly show: (text: string) => void;
}

export const supervise = async ({ config, log, processes, show }: SupervisorOptions): Promise<void> => {
  // Its gateways share the port; it must not be shared with anybody else unnoticed.
  const port = await ensureFree(config);
  cluster.setupPrimary({ exec: process.argv[1] ?? '', args: ['serve'] });
  const children = new Set<Child>();
  let ending = false;

  const start = async (): Promise<Child> => {
    const child = new Child({ SLUICE_ADMIN_PORT: 'off', PORT: String(port), SLUICE_SHARED_PORT: '1' });
    children.add(child);
    const started = performance.now();
    void child.exited.then((how) => {
      children.delete(child);
      if (!child.leaving && !ending) void replace(how, performance.now() - started);
    });
    await child.ready;
    return child;
  };

  let pause = firstPause;
  const replace = async (how: string, ranMs: number): Promise<void> => {
    pause = ranMs > steadyMs ? firstPause : Math.min(pause * 2, longestPause);
    log.error({ how, pauseMs: pause }, 'a gateway process ended; another is started');
    await delay(pause, undefined, { ref: true });
    if (ending) return;
    await start().catch(() => undefined); // its end is seen as any other
  };

  /** The next one listens before the one it replaces stops; while that lets its last clients go, the next but one starts. */
  const replaceAll = async (): Promise<void> => {
    const drained: Promise<string>[] = [];
    for (const child of [...children].filter(({ leaving }) => !leaving)) {
      if (ending) return;
      const next = await start();
      log.warn({ from: child.pid, to: next.pid }, 'a gateway process is replaced');
      drained.push(child.drain({ handOver: true }));
    }
    await Promise.all(drained);
  };

  // The first one alone: it makes what the others find, keys and tables.
  const first = await start();
  await Promise.all(Array.from({ length: processes - 1 }, start));

  const looks = async () => {
    const seen = await Promise.all([...children].map(async (child) => [child, await child.look()] as const));
    return seen.filter(([child]) => !child.leaving);
  };
  const admin =
    config.admin === undefined
      ? undefined
      : await startAdmin({
          ...config.admin,
          metrics: async () =>
            exposition(
              merged(
                new Map((await looks()).map(([child, seen]) => [String(child.id), seen?.families ?? []])),
              ),
            ),
          unready: async () => {
            const seen = await looks();
            if (!ending && seen.some(([, look]) => look?.unready.length === 0)) return [];
            return ending
              ? ['process: shutting down']
              : seen.flatMap(([, look]) => look?.unready ?? ['process: silent']);
          },
        });

  const { greeting } = await first.ready;
  show(welcome({ ...greeting, adminUrl: admin?.url, processes, config }));

  process.on('SIGHUP', () => {
    for (const child of children) child.tell({ order: 'reload' });
  });
  let replacing: Promise<void> = Promise.resolve();
  process.on('SIGUSR2', () => {
    replacing = replacing
      .then(replaceAll)
      .catch((error: unknown) => log.error({ err: error }, 'not all gateway processes could be replaced'));
  });
  await new Promise<void>((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => {
      resolve();
      // Whoever asks twice does not want to wait.
      process.once('SIGINT', () => process.exit(130));
    });
  });
  ending = true;
  await Promise.all([...children].map((child) => child.drain({ handOver: false })));
  await admin?.close();
};
