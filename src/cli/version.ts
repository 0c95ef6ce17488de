/** The version in package.json, read from the sources and from the build alike. */
import { existsSync, readFileSync } from 'node:fs';

export const version = (): string => {
  for (const place of ['../../package.json', '../../../package.json']) {
    const file = new URL(place, import.meta.url);
    if (!existsSync(file)) continue;
    const found: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof found === 'object' && found !== null && 'version' in found) return String(found.version);
  }
  throw new Error('package.json is missing');
};
