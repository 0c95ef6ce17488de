/** A value and the schema it should have → what is wrong with it, one sentence a field. */
import type { TSchema } from 'typebox';
import Value from 'typebox/value';
import { nearest } from './nearest.ts';
import type { Path, Problem } from './problems.ts';

type SchemaError = ReturnType<typeof Value.Errors>[number];

export const schemaProblems = (schema: TSchema, value: unknown): Problem[] => {
  const errors = Value.Errors(schema, value);
  const unions = errors
    .filter((error) => error.keyword === 'anyOf')
    .map((error) => `${error.schemaPath}/anyOf/`);
  return errors
    .filter((error) => !unions.some((union) => error.schemaPath.startsWith(union)))
    .flatMap((error) => toProblems(schema, error));
};

const toProblems = (schema: TSchema, error: SchemaError): Problem[] => {
  const path = pathOf(error.instancePath);
  switch (error.keyword) {
    case 'required':
      return error.params.requiredProperties.map((name) => ({ path: [...path, name], says: 'is missing' }));
    case 'boolean': // a field where the schema has none
      return [{ path, says: unknownKey(path.at(-1) ?? '', schemaAt(schema, parentOf(error.schemaPath))) }];
    case 'additionalProperties': // the same fields again, together
      return [];
    default:
      return [{ path, says: sentence(error, schemaAt(schema, error.schemaPath)) }];
  }
};

const unknownKey = (name: string, schema: SchemaNode): string => {
  const meant = nearest(name, Object.keys(schema.properties ?? {}));
  return `is not a known field${meant === undefined ? '' : `; did you mean ${meant}?`}`;
};

const typeNames: Readonly<Record<string, string>> = {
  integer: 'an integer',
  number: 'a number',
  string: 'a text',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of fields',
};

const sentence = (error: SchemaError, schema: SchemaNode): string => {
  switch (error.keyword) {
    case 'type':
      return `must be ${schema.description ?? typeNames[String(error.params.type)] ?? error.params.type}`;
    case 'pattern':
      return `must be ${schema.description ?? `of the form ${schema.pattern}`}`;
    case 'anyOf':
      return `must be ${schema.description ?? 'one of its allowed forms'}`;
    case 'enum':
      return `must be one of ${error.params.allowedValues.join(', ')}`;
    case 'const':
      return `must be ${error.params.allowedValue}`;
    case 'minimum':
      return `must be at least ${error.params.limit}`;
    case 'maximum':
      return `must be at most ${error.params.limit}`;
    case 'exclusiveMinimum':
      return `must be above ${error.params.limit}`;
    case 'minLength':
      return 'must not be empty';
    case 'maxLength':
      return `must have at most ${error.params.limit} characters`;
    case 'minItems':
      return `must have at least ${error.params.limit} ${error.params.limit === 1 ? 'item' : 'items'}`;
    case 'maxItems':
      return `must have at most ${error.params.limit} items`;
    case 'uniqueItems':
      return 'must not have the same item twice';
    default:
      return error.message;
  }
};

/** A JSON pointer → its keys. */
const pathOf = (pointer: string): Path =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

const parentOf = (pointer: string): string => pointer.slice(0, pointer.lastIndexOf('/'));

interface SchemaNode {
  readonly description?: string;
  readonly pattern?: string;
  readonly properties?: object;
}

const schemaAt = (schema: TSchema, pointer: string): SchemaNode => {
  let node: unknown = schema;
  for (const key of pathOf(pointer))
    node = typeof node === 'object' && node !== null ? Reflect.get(node, key) : undefined;
  return typeof node === 'object' && node !== null ? node : {};
};
