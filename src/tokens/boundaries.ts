/** Finds where a text may be split, and how good each boundary is. */

/** A piece from where the one before it ended. */
export interface Piece {
  readonly end: number;
  readonly boundary: Boundary;
}

/** The better the larger: between words, at a line's end, a sentence's, a paragraph's, and before a heading. */
export type Boundary = 0 | 1 | 2 | 3 | 4;

export const boundary = { word: 0, line: 1, sentence: 2, paragraph: 3, heading: 4 } as const;

/**
 * Ends of sentences with the quotes and brackets that close after them, and runs of line ends. A run of marks is looked
 * at once, from its beginning: from each of its marks it would take an hour where they are a million.
 */
const ends = /\r?\n[ \t\r]*\n\s*|\n|(?<![.!?…])[.!?…]+["'”’)\]»]*(?=\s)|[。！？]+["”’）」』]*/g;
const heading = /[ \t]*(?:#{1,6}[ \t]|={3,}|<h[1-6]\b)/y;

export const piecesOf = (text: string): readonly Piece[] => {
  const pieces: Piece[] = [];
  for (const match of text.matchAll(ends)) {
    const end = match.index + match[0].length;
    const found = boundaryAt(text, match[0], match.index, end);
    if (found !== undefined) pieces.push({ end, boundary: found });
  }
  if ((pieces.at(-1)?.end ?? 0) < text.length) pieces.push({ end: text.length, boundary: boundary.word });
  return pieces;
};

const boundaryAt = (text: string, mark: string, start: number, end: number): Boundary | undefined => {
  const lineEnds = mark.trim() === '';
  if (!lineEnds) return isAbbreviation(text, mark, start) ? undefined : boundary.sentence;
  heading.lastIndex = end;
  if (heading.test(text)) return boundary.heading;
  return mark.indexOf('\n') < mark.lastIndexOf('\n') ? boundary.paragraph : boundary.line;
};

/** "e.g. this", "J. Doe", and the number of a list's item. */
const isAbbreviation = (text: string, mark: string, start: number): boolean => {
  if (mark !== '.') return false;
  return /(?:^|[^\p{L}\p{N}])(?:\p{L}|(?<=(?:^|\n)[ \t]*)\d{1,3})$/u.test(
    text.slice(Math.max(0, start - 8), start),
  );
};

/** Characters without a blank among them that stay together: even the costliest are fewer than a hundred tokens. */
const longestRun = 32;

/** Where a piece that is too long by itself may be split: before its blanks, or anywhere in what has none. */
export const wordsOf = (text: string, start: number, end: number): readonly Piece[] => {
  const pieces: Piece[] = [];
  let last = start;
  for (let at = start + 1; at < end; at++) {
    const beforeBlank = text.charCodeAt(at - 1) > 32 && text.charCodeAt(at) <= 32;
    const tooLong = at - last >= longestRun && (text.charCodeAt(at) & 0xfc00) !== 0xdc00;
    if (!beforeBlank && !tooLong) continue;
    pieces.push({ end: at, boundary: boundary.word });
    last = at;
  }
  pieces.push({ end, boundary: boundary.word });
  return pieces;
};
