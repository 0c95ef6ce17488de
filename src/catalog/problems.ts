/** Problems of a configuration file: fields and what is wrong with them, and the error that lists them. */
import type { TSchema } from 'typebox';
import { SchemaExplainer } from '../schema-errors.ts';

/** Keys and list positions from the top of the file. */
export type Path = readonly string[];

export interface Problem {
  readonly path: Path;
  /** Goes on from the field's name: `must be an integer`. */
  readonly says: string;
}

/** A configuration that cannot be used. `message` is one line; `problems` has them all, in the order of the file. */
export class CatalogFileError extends Error {
  override readonly name: string = 'CatalogFileError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[], cause?: unknown) {
    const more = problems.length - 1;
    super(
      `${problems[0]}${more > 0 ? ` (and ${more} more)` : ''}`,
      cause === undefined ? undefined : { cause },
    );
    this.problems = problems;
  }
}

/** The file is missing or not readable, as opposed to a file with mistakes. */
export class CatalogUnreadableError extends CatalogFileError {
  override readonly name = 'CatalogUnreadableError';
}

const explainer = new SchemaExplainer({
  types: {
    integer: 'an integer',
    number: 'a number',
    string: 'a text',
    boolean: 'true or false',
    array: 'a list',
    object: 'a map of fields',
  },
  missing: 'is missing',
  expected: ({ description }) => description,
  oneOf: (values) => `one of ${values.join(', ')}`,
  unknownField: (name, schema) => {
    const meant = nearest(name, Object.keys(schema.properties ?? {}));
    return `is not a known field${meant === undefined ? '' : `; did you mean ${meant}?`}`;
  },
  wholeRange: false,
});

/** Every field that does not fit the schema. */
export const schemaProblems = (schema: TSchema, value: unknown): readonly Problem[] =>
  [...explainer.errors(schema, value)].map(({ path, says }) => ({ path: path.map(String), says }));

/** The known word that was most likely meant. */
export const nearest = (word: string, known: readonly string[]): string | undefined => {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = editDistance(word.toLowerCase(), candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
};

/** Letters to insert, drop, change or swap with their neighbour to get from one word to the other. */
const editDistance = (from: string, to: string): number => {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1])
        cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
};
