/** The engine's response settings, carried in the prompt so that every gateway forwards them. */

export interface Knobs {
  /** Tokens of the response. */
  readonly tokens: number;
  /** Tokens per second in each stream; 0 is as fast as the client reads. */
  readonly rate: number;
  /** Bytes of text in each token; 0 is a word. */
  readonly size: number;
  /** Milliseconds before the first token, or before a non-streamed response. */
  readonly first: number;
  /** Names the request in the engine's list of aborts. */
  readonly id: number;
  /** 1: the text of every token is the time it was sent, see `load/stamp.ts`. */
  readonly stamp: number;
}

const defaults: Knobs = { tokens: 64, rate: 0, size: 0, first: 0, id: 0, stamp: 0 };
const limits: Knobs = {
  tokens: 1_000_000,
  rate: 1000,
  size: 65_536,
  first: 60_000,
  id: 1_000_000_000,
  stamp: 1,
};

export const writeKnobs = (knobs: Partial<Knobs>): string =>
  `/bench ${Object.entries(knobs)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')}.`;

/** Reads the knobs anywhere in a request body; missing or invalid ones have their default. */
export const readKnobs = (body: string): Knobs => {
  const start = body.indexOf('/bench ');
  if (start < 0) return defaults;
  const end = body.indexOf('.', start);
  const knobs: Record<keyof Knobs, number> = { ...defaults };
  for (const pair of body.slice(start + 7, end < 0 ? start + 200 : end).split(' ')) {
    const [name, text] = pair.split('=');
    const value = Number(text);
    if (isKnob(name) && value >= 0 && value <= limits[name]) knobs[name] = value;
  }
  return knobs;
};

const isKnob = (name: string | undefined): name is keyof Knobs => name !== undefined && name in defaults;
