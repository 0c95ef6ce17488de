/** Generates strings that match a regular expression. */
import type { Random } from '../random.ts';
import { type Budget, charactersPerUnit, SchemaProblem } from './budget.ts';
import { type PatternNode, readPattern, repeatLimit, UnsupportedPattern } from './pattern-reader.ts';

interface Tools {
  readonly random: Random;
  readonly budget: Budget;
}

const attempts = 40;

/** A string the pattern matches, of the wanted length. Throws for what only a real model could satisfy. */
export function matchingText(pattern: string, tools: Tools, low: number, high: number): string {
  const node = readPattern(pattern, tools.budget);
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    // Short at first; longer and longer when the length asks for it.
    const stretch = attempt < 8 ? 2 : Math.min(low, repeatLimit) + attempt;
    const characters: string[] = [];
    write(node, tools, stretch, Math.min(high, 4 * repeatLimit), characters);
    if (characters.length >= low && characters.length <= high) return characters.join('');
  }
  throw new SchemaProblem(`has a "pattern" (${pattern.slice(0, 80)}) that does not go with its length`);
}

/** Adds characters until the node is written or the text is longer than it may be. */
function write(node: PatternNode, tools: Tools, stretch: number, limit: number, out: string[]): void {
  const { random, budget } = tools;
  // Also for what writes nothing: the empty text, a thousand times a thousand times.
  budget.spend(1 / 2);
  if (out.length > limit) return;
  switch (node.type) {
    case 'set':
      out.push(random.pick(node.characters));
      return;
    case 'sequence':
      for (const one of node.nodes) write(one, tools, stretch, limit, out);
      return;
    case 'choice':
      write(random.pick(node.nodes), tools, stretch, limit, out);
      return;
    case 'repeat': {
      const count = random.integer(node.low, Math.min(node.high, node.low + stretch));
      for (let index = 0; index < count && out.length <= limit; index += 1) {
        write(node.node, tools, stretch, limit, out);
      }
    }
  }
}

/**
 * True when the text certainly matches as a whole. Positions are followed all at once, so that no pattern takes long;
 * a pattern that is not understood is no match.
 */
export function matches(pattern: string, text: string, budget: Budget): boolean {
  const characters = [...text];
  budget.spend(characters.length / charactersPerUnit);
  const node = understood(pattern, budget);
  if (node === undefined) return false;
  return ends(node, characters, new Set([0]), budget).has(characters.length);
}

function understood(pattern: string, budget: Budget): PatternNode | undefined {
  try {
    return readPattern(pattern, budget);
  } catch (thrown) {
    if (thrown instanceof UnsupportedPattern) return undefined;
    throw thrown;
  }
}

/** Where the node may end when it starts at one of these positions. */
function ends(
  node: PatternNode,
  text: readonly string[],
  starts: ReadonlySet<number>,
  budget: Budget,
): ReadonlySet<number> {
  budget.spend(2 + starts.size);
  if (starts.size === 0) return starts;
  switch (node.type) {
    case 'set':
      budget.spend((starts.size * node.characters.length) / 128);
      return new Set([...starts].filter((at) => includes(node.characters, text[at])).map((at) => at + 1));
    case 'sequence':
      return node.nodes.reduce((reached, one) => ends(one, text, reached, budget), starts);
    case 'choice':
      return new Set(node.nodes.flatMap((one) => [...ends(one, text, starts, budget)]));
    case 'repeat':
      return repeatedEnds(node, text, starts, budget);
  }
}

function repeatedEnds(
  { node, low, high }: PatternNode & { type: 'repeat' },
  text: readonly string[],
  starts: ReadonlySet<number>,
  budget: Budget,
): ReadonlySet<number> {
  let frontier = starts;
  for (let times = 0; times < low && frontier.size > 0; times += 1)
    frontier = ends(node, text, frontier, budget);
  const reached = new Set(frontier);
  for (let times = low; times < high && frontier.size > 0; times += 1) {
    frontier = new Set([...ends(node, text, frontier, budget)].filter((at) => !reached.has(at)));
    for (const at of frontier) reached.add(at);
  }
  return reached;
}

const includes = (characters: readonly string[], one: string | undefined): boolean =>
  one !== undefined && characters.includes(one);
