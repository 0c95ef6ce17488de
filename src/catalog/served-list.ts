/** The file that says which models are deployed now: one id a line, `#` begins a remark. */
import type { CatalogConfig } from './catalog-config.ts';
import { readBounded } from './load.ts';
import type { ServedIds } from './model-index.ts';

const maxBytes = 1024 * 1024;

/** Throws a CatalogFileError when the file cannot be read. Ids without a row are of no use to anyone and fall away. */
export const readServedIds = (config: CatalogConfig): ServedIds => {
  if (config.servedList === undefined) return undefined;
  const lines = readBounded(config.servedList, maxBytes).split('\n');
  return new Set(lines.map((line) => line.replace(/#.*$/, '').trim()).filter((id) => id !== ''));
};
