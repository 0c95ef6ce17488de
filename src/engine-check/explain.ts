/** Names the first field of a response that does not fit its schema of the protocol. */
import type { TSchema } from 'typebox';
import { SchemaExplainer } from '../helpers/schema-errors.ts';

const explainer = new SchemaExplainer({
  types: {
    integer: 'an integer',
    number: 'a number',
    string: 'a string',
    boolean: 'a boolean',
    array: 'an array',
    object: 'an object',
    null: 'null',
  },
  missing: 'is missing',
  expected: () => undefined,
  oneOf: (values) => `one of ${values.join(', ')}`,
  unknownField: () => 'is unknown',
  wholeRange: true,
});

/** Undefined where the JSON fits. */
export const explain = (schema: TSchema, json: Buffer): string | undefined => {
  let value: unknown;
  try {
    value = JSON.parse(json.toString('utf8'));
  } catch {
    return 'the response must be JSON';
  }
  for (const { path, says } of explainer.errors(schema, value))
    return `${path.join('.') || 'the response'} ${says}`;
  return undefined;
};
