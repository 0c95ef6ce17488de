/** Where the predefined character maps of PDF are: without them, text in Chinese, Japanese and Korean is lost. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A build has a copy beside it; from source they are the package's own. */
const folder = (): URL => {
  const copied = new URL('cmaps/', import.meta.url);
  return existsSync(copied) ? copied : new URL('cmaps/', import.meta.resolve('pdfjs-dist/package.json'));
};

/** The reader opens maps of its own list only, whatever name a document gives. */
export const pdfMaps = { cMapUrl: fileURLToPath(folder()), cMapPacked: true };
