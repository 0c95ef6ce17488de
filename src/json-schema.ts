/** The part of JSON Schema that our types are made of, and what can be read off it. */

export interface JsonSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly description?: string;
  /** What a fitting value is, in words; used where the schema alone would read badly (a pattern, say). */
  readonly expected?: string;
}

/** The values a schema of nothing but literals allows. */
export const literals = (schema: JsonSchema): readonly unknown[] | undefined => {
  if (schema.const !== undefined) return [schema.const];
  if (schema.enum !== undefined) return schema.enum;
  if (schema.anyOf === undefined) return undefined;
  const parts = schema.anyOf.map(literals);
  return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
};

/** Unions inside unions count as one. */
export const alternatives = (schema: JsonSchema): readonly JsonSchema[] =>
  schema.anyOf === undefined ? [schema] : schema.anyOf.flatMap(alternatives);

/** A field that every variant pins to literals of its own. */
export const discriminator = (variants: readonly JsonSchema[]): string | undefined => {
  const names = Object.keys(variants[0]?.properties ?? {});
  return names.find((name) =>
    variants.every((variant) => literals(variant.properties?.[name] ?? {}) !== undefined),
  );
};

/** Whether a value is of the schema's type, whatever else the schema asks. */
export const hasType = (schema: JsonSchema, value: unknown): boolean => {
  switch (schema.type) {
    case undefined:
      return true;
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'null':
      return value === null;
    default:
      return typeof value === schema.type;
  }
};

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
