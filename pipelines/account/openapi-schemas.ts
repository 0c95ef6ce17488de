/** Schemas as the OpenAPI document has them: nulls spelled out, and what has a title written once. */
import type { TSchema } from 'typebox';
import type { Content } from '../../schemas/openapi.ts';
import type { JsonSchema } from '../../src/helpers/json-schema.ts';
import { takesNull } from '../core/validation/drop-nulls.ts';

export type Json = Readonly<Record<string, unknown>>;

/** As `validate` reads it: in JSON, null counts as absent on optional fields. */
export const requestBody = (body: Content): Content =>
  Object.fromEntries(
    Object.entries(body).map(([mediaType, schema]) => [
      mediaType,
      mediaType === 'application/json' ? withNulls(schema) : schema,
    ]),
  );

const withNulls = (schema: JsonSchema): JsonSchema => ({
  ...schema,
  ...(schema.anyOf && { anyOf: schema.anyOf.map(withNulls) }),
  ...(schema.allOf && { allOf: schema.allOf.map(withNulls) }),
  ...(schema.items && { items: withNulls(schema.items) }),
  ...(schema.properties && {
    properties: Object.fromEntries(
      Object.entries(schema.properties).map(([name, field]) => [
        name,
        schema.required?.includes(name) ? withNulls(field) : orNull(withNulls(field)),
      ]),
    ),
  }),
});

const orNull = (schema: JsonSchema): JsonSchema => {
  const takesAnything = schema.type === undefined && schema.anyOf === undefined && schema.enum === undefined;
  if (takesAnything || takesNull(schema)) return schema;
  // The description is one of the field, whichever value it has.
  const { description, ...rest } = schema;
  return { ...(description !== undefined && { description }), anyOf: [rest, { type: 'null' }] };
};

/** Schemas that have a title, by it. */
export class Components {
  readonly #schemas = new Map<string, Json>();

  get schemas(): Json {
    return Object.fromEntries(this.#schemas);
  }

  /** The schema with every titled schema in it moved here and referred to. */
  lift(schema: TSchema): unknown {
    const visit = (node: unknown): unknown => {
      if (Array.isArray(node)) return node.map(visit);
      if (typeof node !== 'object' || node === null) return node;
      const lifted: Json = Object.fromEntries(
        Object.entries(node)
          // Words of our own error messages, no keyword; a field of that name has a schema.
          .filter(([key, value]) => key !== 'expected' || typeof value !== 'string')
          .map(([key, value]) => [key, visit(value)]),
      );
      return typeof lifted.title === 'string' ? this.#refer(lifted.title, lifted) : lifted;
    };
    return visit(schema);
  }

  #refer(title: string, schema: Json): Json {
    const known = this.#schemas.get(title);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`Two schemas have the title ${title}`);
    this.#schemas.set(title, schema);
    return { $ref: `#/components/schemas/${title}` };
  }
}
