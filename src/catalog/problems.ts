/** Problems of a configuration file: fields and what is wrong with them, and the error that lists them. */
import type { TSchema } from 'typebox';
import { nearest } from '../helpers/nearest.ts';
import { SchemaExplainer } from '../helpers/schema-errors.ts';

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
  expected: ({ expected }) => expected,
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
