/** Draws text as dots on a dark plate, as large as fits. */
import { glyphHeight, glyphOf, glyphWidth, plainText } from './font.ts';

export interface Bitmap {
  /** Red, green, blue and alpha of each dot. */
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
}

interface Caption extends Bitmap {
  /** Pixels of the image for each dot, across and down. */
  readonly scale: number;
}

/** Characters a line: the first with which everything fits. */
const layouts = [10, 14, 20, 28, 40, 56, 80, 112];
/** Of the image, at most. */
const shareOfWidth = 0.92;
const shareOfHeight = 0.7;
const margin = 3;
const cellWidth = glyphWidth + 1;
const cellHeight = glyphHeight + 2;
const longestText = 2000;

const plate = 0xb0_10_10_10;
const ink = 0xff_ff_ff_ff;

/** Undefined where the image is too small for a single line. */
export const captionOf = (
  text: string,
  details: string,
  room: { readonly width: number; readonly height: number },
): Caption | undefined => {
  const words = plainText(text.slice(0, longestText));
  let best: { readonly lines: readonly string[]; readonly scale: number } | undefined;
  for (const columns of layouts) {
    const scale = Math.floor((room.width * shareOfWidth) / (columns * cellWidth + 2 * margin));
    if (scale < 1) break;
    const lines = [...wrapped(words, columns), ...wrapped(details, columns)];
    const fitting = Math.floor((room.height * shareOfHeight) / scale / cellHeight);
    if (fitting < 1) continue;
    best = { scale, lines: lines.slice(0, fitting) };
    if (lines.length <= fitting) break;
  }
  return best && { ...drawn(best.lines), scale: best.scale };
};

const wrapped = (text: string, columns: number): string[] => {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
    for (; line.length > columns; line = line.slice(columns)) lines.push(line.slice(0, columns));
  }
  if (line !== '') lines.push(line);
  return lines;
};

const drawn = (lines: readonly string[]): Bitmap => {
  const width = Math.max(...lines.map((line) => line.length)) * cellWidth + 2 * margin;
  const height = lines.length * cellHeight + 2 * margin;
  const data = Buffer.alloc(width * height * 4);
  for (let at = 0; at < data.length; at += 4) data.writeUInt32LE(plate, at);
  for (const [row, line] of lines.entries())
    for (let column = 0; column < line.length; column++) {
      const corner = (margin + 1 + row * cellHeight) * width + margin + column * cellWidth;
      for (const [y, bits] of glyphOf(line.charAt(column)).entries())
        for (let x = 0; x < glyphWidth; x++)
          if ((bits >> (glyphWidth - 1 - x)) & 1) data.writeUInt32LE(ink, (corner + y * width + x) * 4);
    }
  return { data, width, height };
};
