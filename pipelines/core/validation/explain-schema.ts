/** Renders the first validation error of a request: the path of the field and what it must be. */
import type { JsonSchema } from '../../../src/helpers/json-schema.ts';
import { type Path, SchemaExplainer } from '../../../src/helpers/schema-errors.ts';

const explainer = new SchemaExplainer({
  types: {
    string: 'a string',
    number: 'a number',
    integer: 'an integer',
    boolean: 'true or false',
    array: 'an array',
    object: 'an object',
    null: 'null',
  },
  missing: 'is required',
  expected: ({ expected }) => expected,
  oneOf: (values) => {
    const unique = [...new Set(values.map((value) => JSON.stringify(value)))];
    return unique.length === 1 ? (unique[0] ?? '') : `one of ${unique.join(', ')}`;
  },
  unknownField: () => 'is not a known field',
  wholeRange: true,
});

interface Fault {
  readonly message: string;
  /** The field that the message names; null: the whole body. */
  readonly param: string | null;
}

/** Undefined when the value fits. */
export const explainSchema = (schema: JsonSchema, value: unknown): Fault | undefined => {
  for (const { path, says } of explainer.errors(schema, value))
    return { message: `${subject(path)} ${says}`, param: path.length === 0 ? null : subject(path) };
  return undefined;
};

/** `messages[0].role` */
export const subject = (path: Path): string => {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!/^[A-Za-z_$][\w$-]*$/.test(step)) text += `[${JSON.stringify(step.slice(0, 100))}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text === '' ? 'The request body' : text;
};
