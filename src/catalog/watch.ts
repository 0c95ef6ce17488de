/** The catalog of a running gateway, reloaded on request or when one of its files changes. */
import type { Logger } from 'pino';
import { fileVersion } from '../helpers/file-version.ts';
import { createCatalog, type LiveCatalog } from './catalog.ts';
import { defaultCatalog } from './default-catalog.ts';
import { loadCatalogFile, readServedIds } from './load.ts';
import type { CatalogConfig } from './model-index.ts';
import { CatalogFileError, CatalogUnreadableError } from './problems.ts';

interface OpenCatalog {
  readonly catalog: LiveCatalog;
  /** The configuration in force. */
  config(): CatalogConfig;
  /** Reads the files again. False when what they say was refused and the former configuration stays. */
  reload(): boolean;
  /** Why the last reading was refused; undefined: it was not. */
  refusal(): string | undefined;
  close(): void;
}

interface CatalogOptions {
  /** `sluice.yaml`; undefined: the default catalog, which never changes. */
  readonly file: string | undefined;
  readonly log: Logger;
  /** Told of every new configuration before models of it are offered; what it throws refuses the configuration. */
  readonly onConfig?: (config: CatalogConfig) => void;
  /** Milliseconds between two looks at the files. */
  readonly interval?: number;
}

/** Throws a CatalogFileError when the file cannot be used: a gateway does not start on a catalog it cannot read. */
export const openCatalog = ({ file, log, onConfig, interval = 1000 }: CatalogOptions): OpenCatalog => {
  /** By path, each noted before the file is read: what is written in between is seen by the next look. */
  const versions = new Map<string, string>();
  const watch = (path: string | undefined): void => {
    if (path !== undefined && !versions.has(path)) versions.set(path, fileVersion(path));
  };

  watch(file);
  let config = file === undefined ? defaultCatalog : loadCatalogFile(file);
  const catalog = createCatalog(config);

  const offer = (next: CatalogConfig): void => {
    watch(next.servedList);
    try {
      catalog.replace(next, readServedIds(next));
    } catch (error) {
      log.error(details(error), `models answer 503 until the served list can be read: ${reasonOf(error)}`);
      catalog.replace(next);
      catalog.loseServedList();
    }
  };

  let refusal: string | undefined;
  const reload = (): boolean => {
    if (file === undefined) return true;
    refusal = undefined;
    try {
      const next = loadCatalogFile(file);
      onConfig?.(next);
      config = next;
      offer(next);
      log.info({ models: next.models.length }, 'catalog read');
      return true;
    } catch (error) {
      refusal = reasonOf(error);
      log.error(details(error), `catalog refused, the former one stays: ${reasonOf(error)}`);
      if (error instanceof CatalogUnreadableError) catalog.loseFile();
      return false;
    }
  };

  // A file that is still being written changes again before it is read.
  let settling: NodeJS.Timeout | undefined;
  const changed = (): void => {
    clearTimeout(settling);
    settling = setTimeout(reload, Math.min(interval, 200)).unref();
  };

  // Looking at the path again and again, rather than at an inode, outlives editors and deployers that replace the
  // file, and works on network and container file systems that report no events.
  const look = (): void => {
    for (const [path, known] of versions) {
      const version = fileVersion(path);
      if (version === known) continue;
      versions.set(path, version);
      changed();
    }
  };

  offer(config);
  const looking = setInterval(look, interval).unref();
  return {
    catalog,
    config: () => config,
    reload,
    refusal: () => refusal,
    close: () => {
      clearTimeout(settling);
      clearInterval(looking);
    },
  };
};

/** Mistakes in a file are logged by their places, without a stack trace. */
const details = (error: unknown): object =>
  error instanceof CatalogFileError ? { problems: error.problems } : { err: error };

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
