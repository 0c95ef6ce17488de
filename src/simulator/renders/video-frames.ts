/** Draws raw RGB frames at quarter size: the prompt, a counter and a moving shape. */
import { captionOf } from '../images/caption.ts';
import { glyphHeight, glyphOf, glyphWidth } from '../images/font.ts';
import { Random } from '../random.ts';

export interface ClipPlan {
  /** Of the canvas that is drawn on; it is enlarged later. */
  readonly width: number;
  readonly height: number;
  readonly frames: number;
  readonly fps: number;
  readonly text: string;
  readonly details: string;
  readonly seed: number;
  /** Raw pictures of the canvas's size that the clip begins and ends with. */
  readonly first: Buffer | undefined;
  readonly last: Buffer | undefined;
}

/** Rows of the counter. */
const footer = 20;

type Colour = readonly [number, number, number];

/** Draws the frame of an index, from 0, into a buffer of its own. */
export const clipPainter = (plan: ClipPlan): ((index: number) => Buffer) => {
  const { width, height, frames, fps, first, last } = plan;
  const random = new Random(plan.seed);
  const ball = colourOf(random);
  const ground = captioned(plan, first ?? last ?? gradient(plan, colourOf(random), colourOf(random)));
  const end = first === undefined || last === undefined ? undefined : captioned(plan, last);
  const size = Math.floor(Math.min(width, height) / 8);
  /** One revolution every two seconds. */
  const drawBall = (canvas: Buffer, seconds: number): void => {
    const x = Math.round((width - size) * (0.5 + 0.4 * Math.cos(Math.PI * seconds)));
    const y = Math.round((height - footer - size) * (0.5 + 0.4 * Math.sin(Math.PI * seconds)));
    fillBox(canvas, width, { x, y, width: size, height: size }, ball);
  };
  return (index) => {
    const done = frames > 1 ? index / (frames - 1) : 1;
    const canvas = end === undefined ? Buffer.from(ground) : mix(ground, end, done);
    drawBall(canvas, index / fps);
    const counter = `${String(index + 1).padStart(3, '0')}/${frames} ${(index / fps).toFixed(2)}s`;
    fillBox(canvas, width, { x: 0, y: height - footer, width, height: footer }, [0, 0, 0]);
    fillBox(canvas, width, { x: 0, y: height - 3, width: Math.round(width * done), height: 3 }, ball);
    writeText(canvas, width, counter, { x: 4, y: height - 18 });
    return canvas;
  };
};

/** What a clip shows in every frame is drawn once. */
const captioned = (plan: ClipPlan, ground: Buffer): Buffer => {
  const { width, height } = plan;
  const canvas = Buffer.from(ground);
  const caption = captionOf(plan.text, plan.details, { width, height: height - footer });
  if (caption === undefined) return canvas;
  const { data, scale } = caption;
  const left = Math.max(0, Math.floor((width - caption.width * scale) / 2));
  const top = Math.max(0, Math.floor((height - footer - caption.height * scale) / 2));
  for (let y = 0; y < caption.height; y++)
    for (let x = 0; x < caption.width; x++) {
      const value = data[(y * caption.width + x) * 4] ?? 0;
      const at = { x: left + x * scale, y: top + y * scale, width: scale, height: scale };
      fillBox(canvas, width, at, [value, value, value]);
    }
  return canvas;
};

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const colourOf = (random: Random): Colour => [
  random.integer(30, 220),
  random.integer(30, 220),
  random.integer(30, 220),
];

const gradient = ({ width, height }: ClipPlan, from: Colour, to: Colour): Buffer => {
  const canvas = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y++) {
    const share = y / height;
    const [red, green, blue] = from.map((value, index) =>
      Math.round(value + ((to[index] ?? 0) - value) * share),
    );
    fillBox(canvas, width, { x: 0, y, width, height: 1 }, [red ?? 0, green ?? 0, blue ?? 0]);
  }
  return canvas;
};

const mix = (from: Buffer, to: Buffer, share: number): Buffer => {
  const canvas = Buffer.allocUnsafe(from.length);
  const weight = Math.round(share * 256);
  for (let at = 0; at < canvas.length; at++)
    canvas[at] = ((from[at] ?? 0) * (256 - weight) + (to[at] ?? 0) * weight) >> 8;
  return canvas;
};

const fillBox = (canvas: Buffer, canvasWidth: number, box: Box, [red, green, blue]: Colour): void => {
  const right = Math.min(canvasWidth, box.x + box.width);
  for (let y = box.y; y < box.y + box.height; y++)
    for (let x = box.x; x < right; x++) {
      const at = (y * canvasWidth + x) * 3;
      canvas[at] = red;
      canvas[at + 1] = green;
      canvas[at + 2] = blue;
    }
};

const letterScale = 2;

const writeText = (canvas: Buffer, canvasWidth: number, text: string, at: Pick<Box, 'x' | 'y'>): void => {
  const dot = { width: letterScale, height: letterScale };
  for (let letter = 0; letter < text.length; letter++) {
    const left = at.x + letter * (glyphWidth + 1) * letterScale;
    const rows = glyphOf(text.charAt(letter));
    for (let row = 0; row < glyphHeight; row++)
      for (let column = 0; column < glyphWidth; column++) {
        if (!(((rows[row] ?? 0) >> (glyphWidth - 1 - column)) & 1)) continue;
        const box = { ...dot, x: left + column * letterScale, y: at.y + row * letterScale };
        fillBox(canvas, canvasWidth, box, [255, 255, 255]);
      }
  }
};
