/** Kinds of schemas and fields that several files share. */
import Type, { type Static, type TProperties, type TSchema } from 'typebox';

export const Nullable = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

export const Count = Type.Integer({ minimum: 0 });

/** A number of things, and what they are. */
export const CountOf = (description: string) => Type.Integer({ minimum: 0, description });

/** A time in whole seconds, as most responses have it. */
export const UnixSeconds = (description = 'Unix seconds') => Type.Integer({ description });

/** A shared schema, with what the OpenAPI document says of it in this place. Validation reads no descriptions. */
export const Described = <T extends TSchema>(schema: T, description: string): T =>
  Type.With(schema, { description }) as T;

/** An object of the OpenAPI document that is written once and referred to by its title. */
export const Titled = <Fields extends TProperties>(title: string, fields: Fields, description?: string) =>
  Type.Object(fields, description === undefined ? { title } : { title, description });

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
export const Metadata = ByName(Type.String({ maxLength: 512 }), {
  maxProperties: 16,
  longestName: 64,
  description: 'Up to 16 notes of your own: keys of up to 64 characters, texts of up to 512',
});

/** Fields of a page of records. */
export const listFields = <T extends TSchema>(entry: T) => ({
  object: Type.Literal('list'),
  data: Type.Array(entry, { description: 'The entries of this page' }),
  first_id: Nullable(Type.String(), 'Id of the first entry, for `before`; null when the page is empty'),
  last_id: Nullable(Type.String(), 'Id of the last entry, for `after`; null when the page is empty'),
  has_more: Type.Boolean({ description: 'Whether entries follow this page' }),
});

/** Fields of a response to DELETE. */
export const deletedFields = <Name extends string>(object: Name) => ({
  id: Type.String({ description: 'What was deleted' }),
  object: Type.Literal(object),
  deleted: Type.Literal(true),
});

/** Fields of other services' clients: accepted and ignored. */
export const ignoredFields = {
  user: Type.Optional(Type.Unknown({ description: 'Accepted and ignored' })),
  session_id: Type.Optional(Type.Unknown({ description: 'Accepted and ignored' })),
  trace: Type.Optional(Type.Unknown({ description: 'Accepted and ignored' })),
};

/** On the last event of a stream that broke off and was continued by another replica. */
export const Attempts = Type.Integer({
  minimum: 2,
  description: 'Calls that were sent to engines; only on the last event of a continued stream',
});
