/** Extracts the visible text of an HTML page, blocks on lines of their own. */
import { Parser } from 'htmlparser2';
import { checkDepth, checkLength, type DocumentBounds } from './document-bounds.ts';

const unseen = new Set('script style template noscript svg math iframe object select textarea'.split(' '));
const blocks = new Set(
  (
    'address article aside blockquote body br dd details dialog div dl dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 head header hr html li main nav ol p pre section summary table tbody tfoot thead title tr ul'
  ).split(' '),
);
const cells = new Set(['td', 'th']);

export const htmlText = (html: string, bounds: DocumentBounds): string => {
  const lines: string[] = [];
  let line = '';
  /** What is added next begins a word. */
  let spaced = true;
  let length = 0;
  let hidden = 0;
  let preformatted = 0;
  let depth = 0;
  const append = (text: string): void => {
    if (text === '') return;
    line += text;
    spaced = /\s$/.test(text.slice(-1));
  };
  const endLine = (): void => {
    const ended = line.trimEnd();
    if (ended !== '' && ended !== '-') lines.push(ended);
    line = '';
    spaced = true;
  };
  const parser = new Parser({
    onopentagname: (name) => {
      checkDepth(++depth, bounds);
      if (unseen.has(name)) hidden++;
      if (blocks.has(name)) endLine();
      if (name === 'pre') preformatted++;
      if (name === 'li' && hidden === 0) line = '- ';
    },
    onclosetag: (name) => {
      depth--;
      if (unseen.has(name)) hidden--;
      if (name === 'pre') preformatted--;
      if (cells.has(name)) append('\t');
      if (blocks.has(name)) endLine();
    },
    ontext: (text) => {
      if (hidden > 0) return;
      length += text.length;
      checkLength(length, bounds);
      const words = preformatted > 0 ? text : text.replace(/\s+/g, ' ');
      append(spaced && preformatted === 0 ? words.trimStart() : words);
    },
  });
  parser.end(html);
  endLine();
  return lines.join('\n');
};
