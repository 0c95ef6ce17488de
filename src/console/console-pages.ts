/** The pages of the operator's port, as functions of a path and its headers. */
import type { IncomingHttpHeaders } from 'node:http';
import type { PageFiles } from './files.ts';
import { type PageResponse, respondWith, wantsPage } from './page.ts';
import { originsOf, pagePolicy } from './policy.ts';

/** Undefined where the path is no page. */
export type ConsolePages = (path: string, headers: IncomingHttpHeaders) => Promise<PageResponse | undefined>;

export interface ConsolePagesOptions {
  readonly files: PageFiles;
  /** Base address for clients; the playground calls it. */
  readonly publicUrl: () => string;
  readonly mediaOrigins: readonly string[];
}

export const consolePages = ({ files, publicUrl, mediaOrigins }: ConsolePagesOptions): ConsolePages => {
  return async (path, headers) => {
    const request = {
      accept: headers.accept ?? '',
      acceptEncoding: String(headers['accept-encoding'] ?? ''),
      ifNoneMatch: headers['if-none-match'] ?? '',
    };
    if (path === '/') {
      if (!wantsPage(request)) return undefined;
      const connect = originsOf(publicUrl(), headers.host);
      return respondWith(files, 'console.html', request, pagePolicy({ connect, media: mediaOrigins }));
    }
    if (path === '/favicon.ico') return respondWith(files, 'favicon.svg', request);
    return path.startsWith('/assets/') ? respondWith(files, path.slice(1), request) : undefined;
  };
};
