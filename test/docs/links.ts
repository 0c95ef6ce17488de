/** Finds links of Markdown files that lead nowhere: to no file of the repository, or to no heading of it. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isElsewhere, targetOf } from '../../docs/.vitepress/links.ts';
import { linksOf, type Markdown, readMarkdown, root } from './markdown.ts';

/** One line a link that is dead. Links to other hosts are not followed. */
export const deadLinks = (
  pages: readonly Markdown[],
  exists: (file: string) => boolean = isFile,
): readonly string[] => {
  const known = new Map(pages.map((page) => [page.file, page]));
  const read = (file: string): Markdown => {
    const page = known.get(file) ?? readMarkdown(file);
    known.set(file, page);
    return page;
  };
  return pages.flatMap((page) =>
    linksOf(page).flatMap(({ line, href }) => {
      const where = `${page.file}:${line}: ${href}`;
      if (href.startsWith('#'))
        return page.anchors.has(decodeURIComponent(href.slice(1))) ? [] : [`${where}: no such heading`];
      if (href.startsWith('/')) return [`${where}: not relative, so it works on no code host`];
      if (isElsewhere(href)) return [];
      const { file, anchor } = targetOf(page.file, href);
      if (file.startsWith('..')) return [`${where}: outside of the repository`];
      if (!known.has(file) && !exists(file)) return [`${where}: no such file`];
      if (anchor === '' || !file.endsWith('.md')) return [];
      return read(file).anchors.has(decodeURIComponent(anchor.slice(1))) ? [] : [`${where}: no such heading`];
    }),
  );
};

const isFile = (file: string): boolean => existsSync(join(root, file)) && statSync(join(root, file)).isFile();
