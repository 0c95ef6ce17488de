/** Measures time and memory of uploads to a vector store and of their ingestion: `npx tsx bench/micro/uploads.ts [megabytes …]` */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { key, type Memory, startProcess, uploadLines } from '../../test/vector-store/large-upload.ts';
import { callsOf } from '../../test/vector-store/stores.ts';

const mebibyte = 1024 * 1024;
const sizes = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'sluice-uploads-'));
const gateway = await startProcess(folder);
const { create, settled } = callsOf(gateway.url, key);
const inMebibytes = (bytes: number): string => `${(bytes / mebibyte).toFixed(0)} MiB`;

const describe = ({ resident, buffers }: Memory): string =>
  `${inMebibytes(resident)} (buffers ${inMebibytes(buffers)})`;

const warm = await create();
await settled(warm.id, (await uploadLines(gateway.url, warm.id, 2 * mebibyte)).body.id);
for (const size of sizes.length > 0 ? sizes : [10, 100, 101]) {
  const store = await create();
  const { now: before } = await gateway.memory();
  const started = performance.now();
  const { status, body } = await uploadLines(gateway.url, store.id, size * mebibyte);
  const uploaded = performance.now() - started;
  const { peak } = await gateway.memory();
  console.log(
    `${size} MiB: ${status} ${body.status ?? body.error?.message} after ${uploaded.toFixed(0)} ms, memory ${describe(before)}, at most ${describe(peak)}`,
  );
  if (status !== 201) continue;
  const file = await settled(store.id, body.id);
  const after = await gateway.memory();
  const seconds = (performance.now() - started) / 1000;
  console.log(
    `  ${file.status}: ${file.item_count} items after ${seconds.toFixed(1)} s, memory at most ${describe(after.peak)}`,
  );
}
await gateway.end('SIGTERM');
rmSync(folder, { recursive: true, force: true });
