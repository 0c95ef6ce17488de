/** Builds the pages into `dist/console`, compresses them, and checks their size; does nothing if none of their sources changed. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = join(root, 'src/console/web');
const target = join(root, 'dist/console');
/** Replaces the target when it is complete: a gateway that starts meanwhile has the old one. */
const building = `${target}.${process.pid}`;

/** Bytes of all scripts and styles of both pages, compressed; the viewer of the API reference has none. */
const mostBytes = 250_000;
/** Bytes from which a compressed copy is worth its request header. */
const leastBytes = 512;
/** Bytes from which the best compression takes ten seconds. */
const largeBytes = 1_000_000;

const filesBelow = (folder) =>
  readdirSync(folder, { recursive: true })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();

const fingerprint = () => {
  const hash = createHash('sha256');
  for (const name of filesBelow(sources)) hash.update(`${name}\0`).update(readFileSync(join(sources, name)));
  for (const name of ['package-lock.json', 'bin/build-console.mjs'])
    hash.update(readFileSync(join(root, name)));
  return hash.digest('hex');
};

const types = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
};

/** What the gateway serves, with everything it needs to know before it reads a file. */
const describe = (name) => {
  const bytes = readFileSync(join(building, name));
  const type = types[name.slice(name.lastIndexOf('.') + 1)];
  if (type === undefined) throw new Error(`There is no media type for ${name}`);
  const encoded = {
    br: brotliCompressSync(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: bytes.length > largeBytes ? 9 : 11 },
    }),
    gzip: gzipSync(bytes, { level: 9 }),
  };
  const sizes = { identity: bytes.length };
  if (bytes.length >= leastBytes)
    for (const [encoding, content] of Object.entries(encoded)) {
      writeFileSync(join(building, `${name}.${encoding}`), content);
      sizes[encoding] = content.length;
    }
  return { type, hash: createHash('sha256').update(bytes).digest('base64url').slice(0, 22), sizes };
};

/** Names of all scripts and styles that a page can load, through dynamic imports too. */
const reachable = (manifest, page) => {
  const found = new Set();
  const visit = (key) => {
    const chunk = manifest[key];
    if (chunk === undefined || found.has(chunk.file)) return;
    found.add(chunk.file);
    for (const name of [...(chunk.css ?? []), ...(chunk.assets ?? [])]) found.add(name);
    for (const next of [...(chunk.imports ?? []), ...(chunk.dynamicImports ?? [])]) visit(next);
  };
  visit(page);
  return found;
};

const checkSizes = (files, manifest) => {
  const sizeOf = (names) =>
    [...names].reduce((sum, name) => sum + (files[name].sizes.br ?? files[name].sizes.identity), 0);
  const pages = ['public.html', 'console.html', 'reference.html'];
  const rows = pages.map((page) => [page, sizeOf(reachable(manifest, page))]);
  const both = sizeOf(
    new Set(['public.html', 'console.html'].flatMap((page) => [...reachable(manifest, page)])),
  );
  for (const [page, bytes] of [...rows, ['public and console', both]])
    console.error(`${page.padEnd(20)}${(bytes / 1000).toFixed(1).padStart(8)} KB compressed`);
  if (both > mostBytes) throw new Error(`The pages have ${both} bytes compressed, of at most ${mostBytes}`);
};

const wanted = fingerprint();
const stamp = join(target, '.sources');
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  const { build } = await import('vite');
  await build({
    configFile: join(sources, 'vite.config.ts'),
    build: { outDir: building },
    logLevel: 'warn',
  });
  const manifest = JSON.parse(readFileSync(join(building, '.vite/manifest.json'), 'utf8'));
  // It has the paths of this machine.
  rmSync(join(building, '.vite'), { recursive: true });
  const files = Object.fromEntries(filesBelow(building).map((name) => [name, describe(name)]));
  writeFileSync(join(building, 'files.json'), JSON.stringify(files));
  checkSizes(files, manifest);
  writeFileSync(join(building, '.sources'), wanted);
  rmSync(target, { recursive: true, force: true });
  renameSync(building, target);
}
