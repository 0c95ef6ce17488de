/** A regular expression of the plain kind in; strings that match it out. */
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
