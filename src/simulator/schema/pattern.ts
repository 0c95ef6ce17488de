/** Generates strings that match a regular expression. */
import type { Random } from '../random.ts';
import { SchemaProblem } from './budget.ts';
import { type PatternNode, readPattern, repeatLimit } from './pattern-reader.ts';

const attempts = 40;

/** A string the pattern matches, of the wanted length. Throws for what only a real model could satisfy. */
export function matchingText(pattern: string, random: Random, low: number, high: number): string {
  const node = readPattern(pattern);
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    // Short at first; longer and longer when the length asks for it.
    const stretch = attempt < 8 ? 2 : Math.min(low, repeatLimit) + attempt;
    const characters: string[] = [];
    write(node, random, stretch, Math.min(high, 4 * repeatLimit), characters);
    if (characters.length >= low && characters.length <= high) return characters.join('');
  }
  throw new SchemaProblem(`has a "pattern" (${pattern.slice(0, 80)}) that does not go with its length`);
}

/** Adds characters until the node is written or the text is longer than it may be. */
function write(node: PatternNode, random: Random, stretch: number, limit: number, out: string[]): void {
  if (out.length > limit) return;
  switch (node.type) {
    case 'set':
      out.push(random.pick(node.characters));
      return;
    case 'sequence':
      for (const one of node.nodes) write(one, random, stretch, limit, out);
      return;
    case 'choice':
      write(random.pick(node.nodes), random, stretch, limit, out);
      return;
    case 'repeat': {
      const count = random.integer(node.low, Math.min(node.high, node.low + stretch));
      for (let index = 0; index < count && out.length <= limit; index += 1) {
        write(node.node, random, stretch, limit, out);
      }
    }
  }
}

/** Steps of one match: enough for every text written here. */
const matchLimit = 100_000;

/**
 * True when the text certainly matches as a whole. Positions are followed all at once, so that no pattern takes long;
 * a pattern that is not understood, or too much work, is no match.
 */
export function matches(pattern: string, text: string): boolean {
  const characters = [...text];
  const node = understood(pattern);
  if (node === undefined) return false;
  return ends(node, characters, new Set([0]), { left: matchLimit }).has(characters.length);
}

function understood(pattern: string): PatternNode | undefined {
  try {
    return readPattern(pattern);
  } catch (thrown) {
    if (thrown instanceof SchemaProblem) return undefined;
    throw thrown;
  }
}

/** Where the node may end when it starts at one of these positions. */
function ends(
  node: PatternNode,
  text: readonly string[],
  starts: ReadonlySet<number>,
  room: { left: number },
): ReadonlySet<number> {
  room.left -= starts.size;
  if (room.left < 0 || starts.size === 0) return new Set();
  switch (node.type) {
    case 'set':
      return new Set([...starts].filter((at) => includes(node.characters, text[at])).map((at) => at + 1));
    case 'sequence':
      return node.nodes.reduce((reached, one) => ends(one, text, reached, room), starts);
    case 'choice':
      return new Set(node.nodes.flatMap((one) => [...ends(one, text, starts, room)]));
    case 'repeat':
      return repeatedEnds(node, text, starts, room);
  }
}

function repeatedEnds(
  { node, low, high }: PatternNode & { type: 'repeat' },
  text: readonly string[],
  starts: ReadonlySet<number>,
  room: { left: number },
): ReadonlySet<number> {
  let frontier = starts;
  for (let times = 0; times < low && frontier.size > 0; times += 1)
    frontier = ends(node, text, frontier, room);
  const reached = new Set(frontier);
  for (let times = low; times < high && frontier.size > 0; times += 1) {
    frontier = new Set([...ends(node, text, frontier, room)].filter((at) => !reached.has(at)));
    for (const at of frontier) reached.add(at);
  }
  return reached;
}

const includes = (characters: readonly string[], one: string | undefined): boolean =>
  one !== undefined && characters.includes(one);
