/** Extracts the visible text of an HTML page, blocks on lines of their own. */
import { Parser } from 'htmlparser2';
import { checkLength, type DocumentBounds } from './document-bounds.ts';

const unseen = new Set('script style template noscript svg math iframe object select textarea'.split(' '));
const blocks = new Set(
  (
    'address article aside blockquote body br dd details dialog div dl dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 head header hr html li main nav ol p pre section summary table tbody tfoot thead title tr ul'
  ).split(' '),
);
const cells = new Set(['td', 'th']);

/** The name decides only where the bytes leave it open: a fragment without the tags every page begins with. */
export const looksLikeHtml = (text: string, filename: string): boolean => {
  const start = text.slice(0, 2048).replace(/^(?:\s+|<\?xml[^>]{0,200}\?>|<!--[\s\S]{0,2000}?-->)+/, '');
  if (/^<(?:!doctype\s+html|html|head|body)\b/i.test(start)) return true;
  return /\.x?html?$/i.test(filename) && start.startsWith('<');
};

export const htmlText = (html: string, bounds: DocumentBounds): string => {
  const page = new PageText(bounds);
  const parser = new Parser({
    onopentagname: (name) => page.open(name),
    onclosetag: (name) => page.close(name),
    ontext: (text) => page.add(text),
  });
  parser.end(html);
  return page.text();
};

class PageText {
  readonly #bounds: DocumentBounds;
  readonly #lines: string[] = [];
  #line = '';
  /** What is added next begins a word. */
  #spaced = true;
  #length = 0;
  #hidden = 0;
  #preformatted = 0;

  constructor(bounds: DocumentBounds) {
    this.#bounds = bounds;
  }

  open(name: string): void {
    if (unseen.has(name)) this.#hidden++;
    if (blocks.has(name)) this.#endLine();
    if (name === 'pre') this.#preformatted++;
    if (name === 'li' && this.#hidden === 0) this.#line = '- ';
  }

  close(name: string): void {
    if (unseen.has(name)) this.#hidden--;
    if (name === 'pre') this.#preformatted--;
    if (cells.has(name)) this.#append('\t');
    if (blocks.has(name)) this.#endLine();
  }

  add(text: string): void {
    if (this.#hidden > 0) return;
    this.#length += text.length;
    checkLength(this.#length, this.#bounds);
    if (this.#preformatted > 0) {
      this.#append(text);
      return;
    }
    const words = text.replace(/\s+/g, ' ');
    this.#append(this.#spaced ? words.trimStart() : words);
  }

  text(): string {
    this.#endLine();
    return this.#lines.join('\n');
  }

  #append(text: string): void {
    if (text === '') return;
    this.#line += text;
    this.#spaced = /\s$/.test(text.slice(-1));
  }

  #endLine(): void {
    const line = this.#line.trimEnd();
    if (line !== '' && line !== '-') this.#lines.push(line);
    this.#line = '';
    this.#spaced = true;
  }
}
