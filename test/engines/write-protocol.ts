/** Writes docs/engine-protocol.json: `npm run protocol`. */
import { writeFileSync } from 'node:fs';
import { engineProtocol } from '../../schemas/engine-protocol/document.ts';

writeFileSync(
  new URL('../../docs/engine-protocol.json', import.meta.url),
  `${JSON.stringify(engineProtocol(), null, 2)}\n`,
);
