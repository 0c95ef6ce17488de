/** Builds the two pages and the API reference into `dist/console`. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here('.'),
  // Relative, so that the pages also work below a path of a proxy.
  base: './',
  publicDir: 'files',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    emptyOutDir: true,
    target: 'es2022',
    // The Content-Security-Policy allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Sizes are checked and shown by bin/build-console.mjs.
    reportCompressedSize: false,
    chunkSizeWarningLimit: 5_000,
    license: { fileName: 'licences.md' },
    manifest: true,
    rolldownOptions: {
      input: {
        public: here('public.html'),
        console: here('console.html'),
        reference: here('reference.html'),
      },
    },
  },
});
