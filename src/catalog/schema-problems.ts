/** Words the errors of a configuration file: every field at fault, and what it must be. */
import type { TSchema } from 'typebox';
import { SchemaExplainer } from '../schema-errors.ts';
import { nearest } from './nearest.ts';
import type { Problem } from './problems.ts';

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

export const schemaProblems = (schema: TSchema, value: unknown): readonly Problem[] =>
  [...explainer.errors(schema, value)].map(({ path, says }) => ({ path: path.map(String), says }));
