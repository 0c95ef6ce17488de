/** Settings of the documentation site: `npm run docs`. */
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { filesFolder, siteLink, slugOf } from './links.ts';
import { addressOf, sections } from './pages.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Where the site is served, if not at the root of its host: `/sluice/`. */
const base = process.env.DOCS_BASE ?? '/';

const repositoryPath = (file: string): string => relative(root, file).split(sep).join('/');
const exists = (file: string): boolean => existsSync(join(root, file));
const urlOf = (file: string): string => `/${(addressOf(file) ?? '').replace(/(?:index)?\.md$/, '')}`;

/** Linked files that are no pages: sources, dashboards, alerts. */
const copied = new Set<string>();

export default defineConfig({
  title: 'Sluice',
  description: 'A streaming-first inference gateway: one HTTP API in front of hosted models.',
  lang: 'en',
  base,
  cleanUrls: false,
  // The folder of `README.md` and `ARCHITECTURE.md`, which are pages too.
  srcDir: '..',
  srcExclude: ['!(docs|bench|examples)/**/*', '{bench,examples}/*/**/*'],
  rewrites: (file) => addressOf(file) ?? file,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}icon.svg` }]],
  markdown: {
    anchor: { slugify: slugOf },
    // A heading such as GET /videos/{id} has no attributes, as on code hosts.
    attrs: false,
    config: (md) => {
      md.core.ruler.push('repository-links', (state) => {
        const from = repositoryPath(String(state.env.realPath ?? state.env.path));
        for (const token of state.tokens.flatMap((one) => [one, ...(one.children ?? [])])) {
          // Vite takes a name without a dot in front for that of a package.
          if (/^html_/.test(token.type))
            token.content = token.content.replace(/\b(src|srcset)="(?=\w[\w./-]*")/g, '$1="./');
          if (token.type !== 'link_open') continue;
          const link = siteLink(from, token.attrGet('href') ?? '');
          token.attrSet('href', link.copied === undefined ? link.href : `${base}${link.href.slice(1)}`);
          if (link.copied === undefined) continue;
          copied.add(link.copied);
          // Not a page: it opens as the file that it is.
          token.attrSet('target', '_blank');
        }
      });
      const fence = md.renderer.rules.fence;
      md.renderer.rules.fence = (tokens, index, options, env, self) => {
        const token = tokens[index];
        if (token?.info.trim() !== 'mermaid') return fence?.(tokens, index, options, env, self) ?? '';
        return `<Diagram code="${encodeURIComponent(token.content)}" />\n`;
      };
    },
  },
  vite: {
    publicDir: join(root, 'docs/.vitepress/public'),
    build: { chunkSizeWarningLimit: 4_000 },
    server: { host: '127.0.0.1' },
    plugins: [
      {
        name: 'repository-files',
        configureServer(server) {
          server.middlewares.use(`${base}${filesFolder}`, (request, response, next) => {
            const file = decodeURIComponent((request.url ?? '').replace(/[?#].*$/, '').slice(1));
            if (!copied.has(file)) return next();
            response.setHeader('content-type', 'text/plain; charset=utf-8');
            response.end(readFileSync(join(root, file)));
          });
        },
      },
    ],
  },
  buildEnd: ({ outDir }) => {
    for (const file of copied) {
      const target = join(outDir, filesFolder, file);
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(join(root, file), target);
    }
  },
  transformPageData: (page) => {
    if (page.relativePath !== 'index.md') return;
    page.frontmatter.layout = 'home';
    page.frontmatter.hero = {
      name: 'Sluice',
      text: 'A streaming-first inference gateway',
      tagline:
        'One HTTP API in front of hosted models. Backpressure from the client to the engine, failover before the first token, and usage that is on disk before the response ends.',
      actions: [
        { theme: 'brand', text: 'Get started', link: urlOf('docs/get-started.md') },
        { theme: 'alt', text: 'API reference', link: urlOf('docs/reference/api/README.md') },
        { theme: 'alt', text: 'Architecture', link: urlOf('ARCHITECTURE.md') },
      ],
    };
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Get started', link: urlOf('docs/get-started.md') },
      { text: 'Guides', link: urlOf('docs/api.md') },
      { text: 'Operate', link: urlOf('docs/operations.md') },
      { text: 'Reference', link: urlOf('docs/reference/configuration.md') },
      { text: 'Internals', link: urlOf('ARCHITECTURE.md') },
    ],
    sidebar: sections.map(({ title, pages, collapsed }) => ({
      text: title,
      ...(collapsed === undefined ? {} : { collapsed }),
      items: pages
        .filter(({ file }) => exists(file))
        .map(({ file, title: text, anchor }) => ({
          text,
          link: `${urlOf(file)}${anchor === undefined ? '' : `#${anchor}`}`,
        })),
    })),
    footer: { message: 'Apache-2.0' },
  },
});
