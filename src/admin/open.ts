/** Opens the admin port of a process: its metrics, whether it is ready, and its admin API. */
import type { ConsolePages } from '../console/console-pages.ts';
import type { Opened } from '../helpers/opened.ts';
import { exposition } from '../metrics/exposition.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { type Checks, createReadiness, type Readiness } from './readiness.ts';
import type { AdminApi } from './route.ts';
import { startAdmin } from './server.ts';

export interface Admin extends Readiness {
  /** Undefined where there is no such port. */
  readonly url: string | undefined;
}

/** Rejects with one clear sentence when the port is taken. */
export const openAdmin = async (
  opened: Opened,
  address: { readonly host: string; readonly port: number } | undefined,
  metrics: Pick<Metrics, 'families'>,
  checks: Checks,
  api?: AdminApi,
  pages?: ConsolePages,
): Promise<Admin> => {
  const readiness = createReadiness(checks);
  if (address === undefined) return { ...readiness, url: undefined };
  const { host, port } = address;
  const { unready } = readiness;
  const text = (): string => exposition(metrics.families());
  const server = opened.add(
    await startAdmin({ host, port, metrics: text, unready, pages, ...(api && { api }) }),
  );
  return { ...readiness, url: server.url };
};
