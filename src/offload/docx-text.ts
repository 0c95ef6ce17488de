/** Extracts the text of a DOCX: paragraphs on lines, table cells separated by tabs. */
import { Parser } from 'htmlparser2';
import { checkDepth, checkLength, type DocumentBounds, unreadable } from './document-bounds.ts';
import { readEntry, zipEntries } from './zip.ts';

const bodyPart = /^word\/document\d*\.xml$/;
const noteParts = ['word/footnotes.xml', 'word/endnotes.xml'];

/** Deleted or moved text, formatting (where `w:tab` is a tab stop), and the copy of a text box for old readers. */
const unseen = new Set(['w:del', 'w:moveFrom', 'w:pPr', 'w:rPr', 'mc:Fallback']);
const texts = new Set(['w:t', 'm:t']);
const characters: Readonly<Record<string, string>> = {
  'w:tab': '\t',
  'w:br': '\n',
  'w:cr': '\n',
  'w:noBreakHyphen': '-',
};

/** Bytes that any document may unpack to, and how many times its size a large one may: office programs reach a tenth. */
const leastExpanded = 4 * 1024 * 1024;
const mostExpansion = 100;

export const docxText = (bytes: Buffer, bounds: DocumentBounds): string => {
  const entries = zipEntries(bytes);
  const body = [...entries.keys()].find((name) => bodyPart.test(name));
  if (body === undefined) throw unreadable('the document is a ZIP archive, but not a DOCX');
  const most = Math.min(bounds.maxExpanded, leastExpanded + bytes.length * mostExpansion);
  let room = most;
  let text = '';
  for (const entry of [body, ...noteParts].flatMap((name) => entries.get(name) ?? [])) {
    const part = readEntry(bytes, entry, room);
    if (part === undefined) throw unreadable(`the DOCX unpacks to more than ${most} bytes`);
    room -= part.length;
    text += partText(part.toString(), bounds);
  }
  return text.trim();
};

const partText = (xml: string, bounds: DocumentBounds): string => {
  const pieces: string[] = [];
  let length = 0;
  let hidden = 0;
  let inText = false;
  let cell = 0;
  let depth = 0;
  const add = (piece: string): void => {
    pieces.push(piece);
    length += piece.length;
    checkLength(length, bounds);
  };
  const parser = new Parser(
    {
      onopentagname: (name) => {
        checkDepth(++depth, bounds);
        if (unseen.has(name)) hidden++;
        else if (name === 'w:tc') cell++;
        else if (hidden === 0 && texts.has(name)) inText = true;
        else if (hidden === 0 && characters[name] !== undefined) add(characters[name]);
      },
      onclosetag: (name) => {
        depth--;
        if (unseen.has(name)) hidden--;
        else if (texts.has(name)) inText = false;
        else if (name === 'w:p') add(cell > 0 ? ' ' : '\n\n');
        else if (name === 'w:tc') {
          cell--;
          add('\t');
        } else if (name === 'w:tr' || name === 'w:tbl') add('\n');
      },
      ontext: (text) => {
        if (inText && hidden === 0) add(text);
      },
    },
    { xmlMode: true },
  );
  parser.end(xml);
  return pieces
    .join('')
    .split('\n')
    .map((line) => line.replaceAll(' \t', '\t').trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n');
};
