/** Reads the Markdown files of the repository: blocks, headings, links and the words between them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { slugOf } from '../../docs/.vitepress/links.ts';
import { pagesElsewhere } from '../../docs/.vitepress/pages.ts';

/** Compiled, the suite is below `build`, which links to every file of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Block {
  /** Of its first line, the fence. */
  readonly line: number;
  readonly language: string;
  /** What follows the language. */
  readonly label: string;
  readonly text: string;
  /** Of the comment in front of it, `<!-- not run: needs a GPU -->`. */
  readonly notRun: string | undefined;
}

export interface Markdown {
  readonly file: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  /** The same lines, empty where blocks and comments are. */
  readonly prose: readonly string[];
  readonly anchors: ReadonlySet<string>;
}

const namesBelow = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name.startsWith('.') ? [] : namesBelow(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });

/** Every page of the site. */
export const pageFiles = (): readonly string[] => [...pagesElsewhere, ...namesBelow('docs')].sort();

/** Pages, and the guides beside the tests. */
export const markdownFiles = (): readonly string[] => {
  const guides = readdirSync(join(root, 'test'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) =>
      readdirSync(join(root, 'test', name)).includes('README.md') ? [`test/${name}/README.md`] : [],
    );
  return [...pageFiles(), ...guides].sort();
};

export const readMarkdown = (file: string, text = readFileSync(join(root, file), 'utf8')): Markdown => {
  const lines = text.split('\n');
  const blocks: Block[] = [];
  const prose: string[] = [];
  let open: { line: number; fence: string; info: string; lines: string[] } | undefined;
  for (const [index, line] of lines.entries()) {
    const [, fence = '', info = ''] = /^\s*(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (open === undefined && fence === '') prose.push(line);
    else prose.push('');
    if (open === undefined) {
      if (fence !== '') open = { line: index + 1, fence, info: info.trim(), lines: [] };
    } else if (fence === open.fence && info.trim() === '') {
      const [, language = '', label = ''] = /^(\S*)\s*(.*)$/.exec(open.info) ?? [];
      const notRun = /<!-- not run: (.+?) -->\s*$/.exec(prose[open.line - 2] ?? '')?.[1];
      blocks.push({ line: open.line, language, label, text: `${open.lines.join('\n')}\n`, notRun });
      open = undefined;
    } else open.lines.push(line);
  }
  if (open !== undefined) throw new Error(`${file}:${open.line}: the block has no end`);
  return { file, text, blocks, prose: withoutComments(prose), anchors: anchorsOf(prose) };
};

/** Comments of HTML, also those of several lines; lines stay where they are. */
const withoutComments = (lines: readonly string[]): readonly string[] =>
  lines
    .join('\n')
    .replace(/<!--[\s\S]*?-->/g, (comment) => comment.replace(/[^\n]/g, ''))
    .split('\n');

/** As code hosts and the site name headings; a second one of a name gets a number. */
const anchorsOf = (lines: readonly string[]): ReadonlySet<string> => {
  const anchors = new Set<string>();
  const add = (slug: string): void => {
    let name = slug;
    for (let count = 1; anchors.has(name); count++) name = `${slug}-${count}`;
    anchors.add(name);
  };
  for (const line of lines) {
    const heading = /^#{1,6} +(.*?)(?: +#+)?\s*$/.exec(line)?.[1];
    if (heading !== undefined) add(slugOf(textOf(heading)));
    for (const [, id = ''] of line.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id);
  }
  return anchors;
};

/** A heading without the marks of links, code and emphasis. */
const textOf = (heading: string): string =>
  heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/(\*\*|__|`)/g, '')
    .replace(/(?<!\w)[*_]|[*_](?!\w)/g, '');

export interface Link {
  readonly line: number;
  readonly href: string;
}

/** Of Markdown and of HTML: links, images and sources of pictures. */
export const linksOf = ({ prose }: Markdown): readonly Link[] =>
  prose.flatMap((line, index) => {
    const text = line.replace(/(`+)(?:.*?)\1/g, (code) => '`'.repeat(code.length));
    const found = [
      ...text.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g),
      ...text.matchAll(/^\[[^\]]+\]:\s*(\S+)/g),
      ...text.matchAll(/\b(?:href|src|srcset)="([^"]+)"/g),
    ];
    return found.map(([, href = '']) => ({ line: index + 1, href }));
  });
