/** Kinds of schemas and fields that several files share. */
import Type, { type Static, type TProperties, type TSchema } from 'typebox';

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const Count = Type.Integer({ minimum: 0 });

/** An object of the OpenAPI document that is written once and referred to by its title. */
export const Titled = <Fields extends TProperties>(title: string, fields: Fields) =>
  Type.Object(fields, { title });

/** An object that may have no other fields. */
export const Closed = <Fields extends TProperties>(fields: Fields) =>
  Type.Object(fields, { additionalProperties: false });

/**
 * Values by names of the client's choice. `Type.Record` matches names with a pattern: it lets values through unseen whose
 * name contains a line break, and forgets the longest name.
 */
export const ByName = <Value extends TSchema>(
  value: Value,
  { longestName, ...options }: { longestName?: number; [option: string]: unknown } = {},
) =>
  Type.Unsafe<Record<string, Static<Value>>>({
    type: 'object',
    additionalProperties: value,
    ...(longestName !== undefined && { propertyNames: { type: 'string', maxLength: longestName } }),
    ...options,
  });

/** Notes of a client about what it creates. */
export const Metadata = ByName(Type.String({ maxLength: 512 }), { maxProperties: 16, longestName: 64 });

/** Fields of a page of records. */
export const listFields = <T extends TSchema>(entry: T) => ({
  object: Type.Literal('list'),
  data: Type.Array(entry),
  first_id: Nullable(Type.String()),
  last_id: Nullable(Type.String()),
  has_more: Type.Boolean(),
});

/** Fields of a response to DELETE. */
export const deletedFields = <Name extends string>(object: Name) => ({
  id: Type.String(),
  object: Type.Literal(object),
  deleted: Type.Literal(true),
});

/** Fields of other services' clients: accepted and ignored. */
export const ignoredFields = {
  user: Type.Optional(Type.Unknown()),
  session_id: Type.Optional(Type.Unknown()),
  trace: Type.Optional(Type.Unknown()),
};

/** On the last event of a stream that broke off and was continued by another replica. */
export const Attempts = Type.Integer({ minimum: 2, description: 'calls that were sent to engines' });
