/** Compiles a schema into a check whose error names the first field at fault. */
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { type ErrorKind, fail } from '../../src/errors.ts';
import { dropNulls } from './validation/drop-nulls.ts';
import { explainSchema } from './validation/explain-schema.ts';

/**
 * Call it once per schema, at module level: it compiles. Null counts as absent on optional fields, and is removed
 * from the value in place; where a field's schema allows null, it stays.
 */
export const validate = <Schema extends TSchema>(
  schema: Schema,
  kind: ErrorKind = 'invalid_request',
): ((value: unknown) => Static<Schema>) => {
  const compiled = Compile(schema);
  const drop = dropNulls(schema);
  return (value) => {
    drop?.(value);
    if (compiled.Check(value)) return value as Static<Schema>;
    const fault = explainSchema(schema, value);
    if (fault !== undefined) throw fail(kind, fault.message, { param: fault.param });
    throw fail(kind, compiled.Errors(value)[0]?.message ?? 'The request body is not valid', { param: null });
  };
};
