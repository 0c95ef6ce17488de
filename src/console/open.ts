/** Opens the pages of both ports, or neither where they are switched off or not built. */
import type { Logger } from 'pino';
import type { Route } from '../../pipelines/route.ts';
import { type ConsolePages, consolePages } from './console-pages.ts';
import { openFiles } from './files.ts';
import { publicPages } from './public-pages.ts';

export interface PagesOptions {
  readonly enabled: boolean;
  /** Base address for clients. */
  readonly publicUrl: () => string;
  /** Where links to results lead, if not there. */
  readonly mediaOrigins: readonly string[];
  readonly log: Logger;
}

export interface Pages {
  /** Routes outside `/v1`. */
  readonly public: readonly Route[];
  readonly console: ConsolePages;
}

export const openPages = ({ enabled, log, ...options }: PagesOptions): Pages | undefined => {
  const files = enabled ? openFiles() : undefined;
  if (enabled && files === undefined) log.warn('the pages are not built, and not served: npm run build');
  return (
    files && { public: publicPages({ files, ...options }), console: consolePages({ files, ...options }) }
  );
};
