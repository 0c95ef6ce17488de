/** Writes the generated pages of the reference: `npm run docs:reference`. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readCommandLine } from '../../command-line.ts';
import { root } from '../markdown.ts';
import { referencePages } from './pages.ts';

readCommandLine({
  command: 'npm run docs:reference',
  summary: 'Writes the generated pages of docs/reference.',
  options: {},
});

const pages = await referencePages();
// A group of the API that is gone leaves no page.
rmSync(join(root, 'docs/reference/api'), { recursive: true, force: true });
for (const [file, text] of pages) {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}
console.log(`${pages.size} pages written`);
