/** Checks the words of the guides: spelling against a dictionary and the project's vocabulary, and phrases to avoid. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import dictionary from 'dictionary-en-gb';
import nspell from 'nspell';
import { type Markdown, root } from './markdown.ts';

export interface Spelling {
  isRight(word: string): boolean;
  suggestions(word: string): readonly string[];
}

/** One word a line; `#` begins a comment. */
const vocabulary = (): readonly string[] =>
  readFileSync(join(root, 'docs/.vitepress/vocabulary.txt'), 'utf8')
    .split('\n')
    .map((line) => line.replace(/#.*$/, '').trim())
    .filter((word) => word !== '');

export const openSpelling = (words: readonly string[] = vocabulary()): Spelling => {
  const checker = nspell({ aff: Buffer.from(dictionary.aff), dic: Buffer.from(dictionary.dic) });
  const own = new Set(words.map((word) => word.toLowerCase()));
  const known = new Map<string, boolean>();
  const look = (word: string): boolean =>
    own.has(word.toLowerCase()) ||
    checker.correct(word) ||
    checker.correct(word.toLowerCase()) ||
    // Possessives and plurals of names.
    (/s$/.test(word) && own.has(word.slice(0, -1).toLowerCase()));
  return {
    isRight: (word) => {
      const before = known.get(word);
      if (before !== undefined) return before;
      const right = look(word);
      known.set(word, right);
      return right;
    },
    suggestions: (word) => checker.suggest(word).slice(0, 3),
  };
};

/** Without code, addresses, tags of HTML, and the targets of links. */
export const proseOf = (line: string): string =>
  line
    .replace(/(`+)(?:.*?)\1/g, ' ')
    .replace(/\]\([^)]*\)/g, '] ')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&\w+;|&#\d+;/g, ' ')
    .replace(/\bhttps?:\/\/\S+/g, ' ')
    .replace(/[\w.-]+\/[\w./*-]+|[\w-]+\.(?:ts|md|json|yaml|yml|svg|py|log|db|lua|mjs)\b/g, ' ');

/** Words of prose; names with digits, capitals inside or underscores are not of the language. */
const wordsOf = (line: string): readonly string[] =>
  [...proseOf(line).matchAll(/[\p{L}\p{M}][\p{L}\p{M}\d_’']*/gu)]
    .map(([word]) => word.replaceAll('’', "'").replace(/'s?$/, ''))
    .filter((word) => word.length > 2 && !/[\d_]|\p{Ll}\p{Lu}|^\p{Lu}{2,}s?$/u.test(word));

export const misspelt = (page: Markdown, spelling: Spelling): readonly string[] => {
  const found = new Map<string, number>();
  for (const [index, line] of page.prose.entries())
    for (const word of wordsOf(line))
      if (!spelling.isRight(word) && !found.has(word)) found.set(word, index + 1);
  return [...found].map(([word, line]) => `${page.file}:${line}: ${word}`);
};

/** Words that only this project would use, and what the field calls it; from the project's list of words. */
export const phrases: readonly (readonly [RegExp, string])[] = [
  [/\bthose who wait\b/i, 'waiters'],
  [/\bslow reader slows\b/i, 'backpressure'],
  [/\bleft alone for a while\b/i, 'ejected'],
  [/\bpauses that double\b/i, 'exponential backoff'],
  [/\bturnstile\b/i, 'semaphore'],
  [/\bprocessor time\b/i, 'CPU time'],
  [/\bmade anew\b/i, 'rebuilt'],
  [/\bwhat gives way first\b/i, 'bottlenecks'],
  [/\b(?:is|are|was|were) told of\b/i, 'is notified of'],
];

export const avoided = (page: Markdown): readonly string[] =>
  page.prose.flatMap((line, index) =>
    phrases
      .filter(([phrase]) => phrase.test(proseOf(line)))
      .map(([phrase, better]) => `${page.file}:${index + 1}: ${phrase.exec(line)?.[0]} → ${better}`),
  );
