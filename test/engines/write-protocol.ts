/** Writes docs/engine-protocol.json: `npm run protocol`. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { engineProtocol } from '../../schemas/engine-protocol/document.ts';
import { readCommandLine } from '../command-line.ts';

readCommandLine({
  command: 'npm run protocol',
  summary: 'Writes docs/engine-protocol.json, the OpenAPI document of media engines, from the schemas.',
  options: {},
});
const file = fileURLToPath(new URL('../../docs/engine-protocol.json', import.meta.url));
writeFileSync(file, `${JSON.stringify(engineProtocol(), null, 2)}\n`);
execFileSync('npx', ['--no-install', 'biome', 'format', '--write', file], { stdio: 'inherit' });
