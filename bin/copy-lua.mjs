/** Copies the Lua scripts of `src` into `dist`, beside the compiled adapters that read them. */
import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

for (const file of readdirSync(join(root, 'src'), { recursive: true }))
  if (file.endsWith('.lua')) copyFileSync(join(root, 'src', file), join(root, 'dist/src', file));
