/** Finds the snippets that the guides show, and what runs each of them. */
import type { Block, Markdown } from '../markdown.ts';
import { coverOf, type NotRun, notRun, runnable } from './covered.ts';
import { guides } from './guides.ts';

export interface Snippets {
  /** To be run here. */
  readonly run: readonly Block[];
  /** Lines with the reason. */
  readonly left: readonly string[];
  readonly problems: readonly string[];
  /** Rows of the table that were needed. */
  readonly used: ReadonlySet<NotRun>;
}

export const snippetsOf = ({ file, blocks }: Markdown): Snippets => {
  const used = new Set<NotRun>();
  const left: string[] = [];
  const snippets = blocks.filter(({ language }) => runnable.has(language));
  const mine = snippets.filter(({ line, text, notRun: marked }) => {
    const known = notRun.find((one) => one.file === file && text.startsWith(one.begins));
    if (known !== undefined) used.add(known);
    const reason = marked ?? known?.reason;
    if (reason !== undefined) left.push(`${file}:${line}: ${reason}`);
    return reason === undefined;
  });
  if (coverOf(file) !== undefined) return { run: [], left, problems: [], used };
  const isGuide = file in guides;
  const problems = isGuide
    ? []
    : mine.map(({ line }) => `${file}:${line}: nothing runs this snippet (test/docs/guides)`);
  return { run: isGuide ? mine : [], left, problems, used };
};

/** The commands of a block: those behind a prompt, or all of it. */
export const commandsOf = (text: string): string => {
  const lines = text.split('\n');
  if (!lines.some((line) => line.startsWith('$ '))) return text;
  const commands: string[] = [];
  let isOpen = false;
  for (const line of lines) {
    if (line.startsWith('$ ') || isOpen) commands.push(line.replace(/^\$ /, ''));
    isOpen = (line.startsWith('$ ') || isOpen) && line.endsWith('\\');
  }
  return `${commands.join('\n')}\n`;
};
