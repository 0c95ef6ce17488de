/** A temporary folder of this process alone, so that what is left in it is ours. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
process.env.TMPDIR = folder;
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
