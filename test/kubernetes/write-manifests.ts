/** Writes deploy/kubernetes.yaml and what the chart takes from elsewhere: `npm run manifests`. */
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCommandLine } from '../command-line.ts';
import { chartFolder, docsFiles, plainFile, plainText } from './chart.ts';
import { helmProgram, root } from './tools.ts';
import { readmeFile, withTable } from './values.ts';

readCommandLine({
  command: 'npm run manifests',
  summary: "Writes deploy/kubernetes.yaml, the table of values in the chart's README and its copies of docs.",
  options: {},
});

for (const file of docsFiles) copyFileSync(join(root, 'docs', file), join(chartFolder, 'files', file));
writeFileSync(readmeFile, withTable(readFileSync(readmeFile, 'utf8')));
if (!existsSync(helmProgram)) throw new Error('there is no Helm: npm run test:kubernetes -- --fetch chart');
writeFileSync(plainFile, plainText());
