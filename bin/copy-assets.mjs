/** Copies what compiled code reads from disk into `dist`: the Lua scripts of `src`, and the PDF reader's character maps. */
import { copyFileSync, cpSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

for (const file of readdirSync(join(root, 'src'), { recursive: true }))
  if (file.endsWith('.lua')) copyFileSync(join(root, 'src', file), join(root, 'dist/src', file));

// The maps are 1 MB of a package of 37 MB, which no installation needs beside them.
const reader = dirname(fileURLToPath(import.meta.resolve('pdfjs-dist/package.json')));
cpSync(join(reader, 'cmaps'), join(root, 'dist/src/offload/cmaps'), { recursive: true });
