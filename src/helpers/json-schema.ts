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
  readonly propertyNames?: JsonSchema;
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

/**
 * A field that tells variants apart: each pins it to literals of its own. Where no field does, one that a single
 * variant leaves open, for every other value.
 */
export const discriminator = (variants: readonly JsonSchema[]): string | undefined => {
  const names = Object.keys(variants[0]?.properties ?? {}).filter((name) =>
    variants.every(({ properties }) => properties?.[name] !== undefined),
  );
  const open = (name: string): number =>
    variants.filter(({ properties }) => literals(properties?.[name] ?? {}) === undefined).length;
  return (
    names.find((name) => open(name) === 0) ?? names.find((name) => variants.length > 1 && open(name) === 1)
  );
};

/** The variants that a value of the discriminator points at; undefined stands for a missing field. */
export const variantsOf = (
  variants: readonly JsonSchema[],
  name: string,
  value: unknown,
): readonly JsonSchema[] => {
  if (value === undefined) return variants.filter(({ required }) => required?.includes(name) !== true);
  const pinned = (variant: JsonSchema) => literals(variant.properties?.[name] ?? {});
  const meant = variants.filter((variant) => pinned(variant)?.includes(value));
  return meant.length > 0 ? meant : variants.filter((variant) => pinned(variant) === undefined);
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
