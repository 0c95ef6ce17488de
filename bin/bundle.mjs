/**
 * Joins the gateway and those of its libraries that have many modules into a few files, `dist/bundle`. A process that
 * loads 1,500 modules needs 30 MB more, and twice the time to start.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = join(root, 'dist/bundle');
/** Moved to the target when it is complete: a gateway that starts meanwhile has the old one. */
const building = `${target}.${process.pid}`;
const entry = 'main.js';
/** Milliseconds that files of earlier builds stay: a gateway that runs may load one with its next request. */
const staysMs = 24 * 60 * 60 * 1000;

/** Scripts of threads and files beside a module are found as if it ran where it was compiled. */
const keepUrls = {
  name: 'keep-urls',
  transform: (code, id) => {
    if (!id.endsWith('.ts') || !code.includes('import.meta.url')) return undefined;
    const compiled = join(root, 'dist', relative(root, id)).replace(/ts$/, 'js');
    const url = `new URL(${JSON.stringify(relative(target, compiled))}, import.meta.url).href`;
    return { code: code.replaceAll('import.meta.url', url), map: null };
  },
};

/** Node's condition leads to CommonJS in ES5, where each use of a name is the call of a getter. */
const rxjs = join(dirname(createRequire(import.meta.url).resolve('rxjs/package.json')), 'dist/esm/index.js');

/** On the global object these are getters, and each use is a call; an import is a variable. */
const globals = {
  Buffer: ['node:buffer', 'Buffer'],
  performance: ['node:perf_hooks', 'performance'],
  process: ['node:process', 'default'],
};

await build({
  configFile: false,
  root,
  logLevel: 'warn',
  plugins: [keepUrls],
  resolve: { alias: [{ find: /^rxjs$/, replacement: rxjs }] },
  // Other libraries are loaded when needed, or have files of their own.
  ssr: { target: 'node', noExternal: ['rxjs', 'typebox', 'yaml'] },
  build: {
    ssr: join(root, 'src/cli/main.ts'),
    outDir: building,
    minify: false,
    sourcemap: true,
    target: 'node20',
    rolldownOptions: {
      transform: { inject: globals },
      output: {
        entryFileNames: entry,
        chunkFileNames: '[name]-[hash].js',
        sourcemapExcludeSources: true,
        // V8 keeps a source with a character beyond Latin-1 in two bytes each, 2 MB more in all.
        comments: false,
        // V8 compiles calls of constants directly; a variable is read and checked each time.
        topLevelVar: false,
        minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
      },
    },
  },
});

mkdirSync(target, { recursive: true });
const built = readdirSync(building);
// The entry last: it names the others.
for (const file of [...built.filter((each) => each !== entry), entry])
  renameSync(join(building, file), join(target, file));
rmSync(building, { recursive: true });
for (const file of readdirSync(target))
  if (!built.includes(file) && statSync(join(target, file)).mtimeMs < Date.now() - staysMs)
    rmSync(join(target, file));
