/** Measures the latency of a search in both vector stores: `npx tsx bench/micro/search.ts [items …]`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLibsqlVectors } from '../../src/adapters/vectors/libsql.ts';
import { openQdrantVectors } from '../../src/adapters/vectors/qdrant.ts';
import type { Point, Vectors } from '../../src/ports/vectors.ts';
import { qdrantMissing, startQdrant } from '../../test/services/qdrant.ts';

const dimensions = 384;
const rounds = 50;
/** Local mode is Python, point by point: more would take minutes and is not representative of the server. */
const mostInLocalMode = 1_000;
const sizes = process.argv.slice(2).map(Number);

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const anyVector = (): Float32Array => Float32Array.from({ length: dimensions }, () => Math.random() - 0.5);

const pointAt = (index: number): Point => ({
  id: `item_${index}`,
  file: `file-${Math.floor(index / 1000)}`,
  filename: 'items.txt',
  index,
  text: 'Words of a passage, about as long as one is. '.repeat(20),
  description: '',
  createdAt: 1_700_000_000_000 + Math.floor(index / 1000),
  updatedAt: 1_700_000_000_000,
  vector: anyVector(),
});

const milliseconds = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};

const searching = async (vectors: Vectors, store: string): Promise<string> => {
  const times: number[] = [];
  const cpu = process.cpuUsage();
  for (let round = 0; round < rounds; round++) {
    const query = anyVector();
    times.push(await milliseconds(() => vectors.search(store, query, { limit: 10 })));
  }
  const { user, system } = process.cpuUsage(cpu);
  times.sort((one, other) => one - other);
  const at = (share: number) => `${(times[Math.floor(rounds * share)] ?? 0).toFixed(1)} ms`;
  const own = ((user + system) / 1000 / rounds).toFixed(1);
  return `median ${at(0.5)}, 95th percentile ${at(0.95)}, processor time of this process ${own} ms`;
};

const measure = async (name: string, vectors: Vectors, size: number): Promise<void> => {
  const store = `bench_${size}`;
  await vectors.create(store, dimensions);
  const added = await milliseconds(async () => {
    for (let start = 0; start < size; start += 1000) {
      await vectors.upsert(
        store,
        Array.from({ length: 1000 }, (_, index) => pointAt(start + index)),
      );
      await vectors.publish(store, `file-${start / 1000}`);
    }
  });
  const query = anyVector();
  const first = await milliseconds(() => vectors.search(store, query, { limit: 10 }));
  say(`${name}, ${size} items of ${dimensions} dimensions`);
  say(`  added in ${(added / 1000).toFixed(1)} s, first search ${first.toFixed(1)} ms`);
  say(`  search: ${await searching(vectors, store)}`);
  await vectors.remove(store, 'item_1');
  say(
    `  right after a removal: ${(await milliseconds(() => vectors.search(store, query, { limit: 10 }))).toFixed(1)} ms`,
  );
  const began = performance.now();
  await Promise.all(Array.from({ length: 64 }, () => vectors.search(store, query, { limit: 10 })));
  say(`  64 at a time: ${Math.round(64_000 / (performance.now() - began))} searches/s`);
  await vectors.drop(store);
};

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-search-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const wanted = sizes.length > 0 ? sizes : [10_000, 100_000];

for (const size of wanted) {
  const vectors = openLibsqlVectors(join(folder, `${size}.db`));
  await measure('embedded', vectors, size);
  await vectors.close();
}

const missing = qdrantMissing();
if (missing !== undefined) say(missing);
else {
  const isReal = Boolean(process.env.QDRANT_URL);
  const service = await startQdrant();
  const vectors = openQdrantVectors(service.url, { prefix: 'sluice_bench_', patience: 60_000 });
  const name = isReal ? 'Qdrant' : 'Qdrant’s local mode (Python; set QDRANT_URL for a server)';
  for (const size of isReal ? wanted : [mostInLocalMode]) await measure(name, vectors, size);
  await vectors.close();
  await service.stop();
}
