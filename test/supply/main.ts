/** `npm run licences`: writes docs/dependencies.md from the lock file. */
import { writeFileSync } from 'node:fs';
import { readCommandLine } from '../command-line.ts';
import { documentOf, readManifest } from './document.ts';
import { readPackages } from './lock.ts';

readCommandLine({
  command: 'npm run licences',
  summary: 'Writes docs/dependencies.md: every production package of package-lock.json with its licence.',
  options: {},
});
writeFileSync('docs/dependencies.md', documentOf(readPackages(), readManifest()));
