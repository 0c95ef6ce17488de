/** `npm run licences`: writes docs/dependencies.md from the lock file. */
import { writeFileSync } from 'node:fs';
import { documentOf, readManifest } from './document.ts';
import { readPackages } from './lock.ts';

writeFileSync('docs/dependencies.md', documentOf(readPackages(), readManifest()));
