/** A schema and a value that does not fit it in; one sentence naming the first field at fault out. */

/** The part of JSON Schema that our types are made of. */
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
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  /** What a fitting value is, in words; used where the schema alone would read badly (a pattern, say). */
  readonly expected?: string;
}

/** Undefined when the value fits. */
export const explainSchema = (schema: JsonSchema, value: unknown, path = ''): string | undefined => {
  if (schema.anyOf !== undefined) return explainUnion(alternatives(schema), value, path);
  if (schema.const !== undefined || schema.enum !== undefined) return explainLiteral(schema, value, path);
  if (!hasType(schema, value)) return `${subject(path)} must be ${describe(schema)}`;
  const fault = explainTyped(schema, value, path);
  if (fault !== undefined)
    return schema.expected === undefined ? fault : `${subject(path)} must be ${schema.expected}`;
  for (const part of schema.allOf ?? []) {
    const found = explainSchema(part, value, path);
    if (found !== undefined) return found;
  }
  return undefined;
};

// ── one type ───────────────────────────────────────────────────────────────────────────────────────

const explainTyped = (schema: JsonSchema, value: unknown, path: string): string | undefined => {
  if (typeof value === 'string') return explainString(schema, value, path);
  if (typeof value === 'number') return explainNumber(schema, value, path);
  if (Array.isArray(value)) return explainArray(schema, value, path);
  return isObject(value) ? explainObject(schema, value, path) : undefined;
};

const explainString = (schema: JsonSchema, value: string, path: string): string | undefined => {
  const { minLength, maxLength, pattern } = schema;
  if (minLength !== undefined && characters(value) < minLength)
    return minLength === 1
      ? `${subject(path)} must not be empty`
      : `${subject(path)} must have at least ${count(minLength, 'character')}`;
  if (maxLength !== undefined && characters(value) > maxLength)
    return `${subject(path)} must have at most ${count(maxLength, 'character')}`;
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value))
    return `${subject(path)} must match ${pattern}`;
  return undefined;
};

const explainNumber = (schema: JsonSchema, value: number, path: string): string | undefined => {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const low = minimum !== undefined && value < minimum;
  const high = maximum !== undefined && value > maximum;
  if (low || high) {
    if (minimum !== undefined && maximum !== undefined)
      return `${subject(path)} must be between ${minimum} and ${maximum}`;
    return `${subject(path)} must be ${low ? `at least ${minimum}` : `at most ${maximum}`}`;
  }
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
    return `${subject(path)} must be greater than ${exclusiveMinimum}`;
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum)
    return `${subject(path)} must be less than ${exclusiveMaximum}`;
  if (multipleOf !== undefined && value % multipleOf !== 0)
    return `${subject(path)} must be a multiple of ${multipleOf}`;
  return undefined;
};

const explainArray = (schema: JsonSchema, value: readonly unknown[], path: string): string | undefined => {
  const { minItems, maxItems, items } = schema;
  if (minItems !== undefined && value.length < minItems)
    return `${subject(path)} must have at least ${count(minItems, 'item')}`;
  if (maxItems !== undefined && value.length > maxItems)
    return `${subject(path)} must have at most ${count(maxItems, 'item')}`;
  if (items === undefined) return undefined;
  for (const [index, item] of value.entries()) {
    const fault = explainSchema(items, item, `${path}[${index}]`);
    if (fault !== undefined) return fault;
  }
  return undefined;
};

const explainObject = (
  schema: JsonSchema,
  value: Record<string, unknown>,
  path: string,
): string | undefined => {
  const properties = schema.properties ?? {};
  for (const name of schema.required ?? []) {
    if (value[name] === undefined) return `${join(path, name)} is required`;
  }
  const names = Object.keys(value);
  const { minProperties, maxProperties } = schema;
  if (minProperties !== undefined && names.length < minProperties)
    return `${subject(path)} must have at least ${count(minProperties, 'field')}`;
  if (maxProperties !== undefined && names.length > maxProperties)
    return `${subject(path)} must have at most ${count(maxProperties, 'field')}`;
  for (const name of names) {
    const fault = explainProperty(
      schema,
      Object.hasOwn(properties, name) ? properties[name] : undefined,
      value,
      name,
      path,
    );
    if (fault !== undefined) return fault;
  }
  return undefined;
};

const explainProperty = (
  schema: JsonSchema,
  declared: JsonSchema | undefined,
  value: Record<string, unknown>,
  name: string,
  path: string,
): string | undefined => {
  const at = join(path, name);
  if (declared !== undefined)
    return value[name] === undefined ? undefined : explainSchema(declared, value[name], at);
  for (const [pattern, patternSchema] of Object.entries(schema.patternProperties ?? {}))
    if (new RegExp(pattern, 'u').test(name)) return explainSchema(patternSchema, value[name], at);
  if (schema.additionalProperties === false) return `${at} is not a field of this request`;
  return typeof schema.additionalProperties === 'object'
    ? explainSchema(schema.additionalProperties, value[name], at)
    : undefined;
};

// ── one of several ─────────────────────────────────────────────────────────────────────────────────

const explainUnion = (branches: readonly JsonSchema[], value: unknown, path: string): string | undefined => {
  if (branches.some((branch) => explainSchema(branch, value, path) === undefined)) return undefined;
  const fitting = branches.filter((branch) => literals(branch) === undefined && hasType(branch, value));
  const only = fitting[0];
  if (only !== undefined && fitting.length === 1) return explainSchema(only, value, path);
  if (only !== undefined && isObject(value)) return explainVariants(fitting, value, path);
  return `${subject(path)} must be ${describeAll(branches)}`;
};

/** The variant that the value's own `type`, `role` or other literal field points at is the one it was meant to be. */
const explainVariants = (
  variants: readonly JsonSchema[],
  value: Record<string, unknown>,
  path: string,
): string | undefined => {
  const key = discriminator(variants);
  if (key === undefined) return firstShallow(variants, value, path);
  const meant = variants.filter((variant) => {
    const property = variant.properties?.[key];
    return property !== undefined && explainSchema(property, value[key]) === undefined;
  });
  if (meant.length > 0) return firstShallow(meant, value, path);
  const allowed = variants.flatMap((variant) => literals(variant.properties?.[key] ?? {}) ?? []);
  return value[key] === undefined
    ? `${join(path, key)} is required`
    : `${join(path, key)} must be ${oneOf(allowed)}`;
};

/** Of several faults the one deepest inside the value: that variant fitted furthest. */
const firstShallow = (variants: readonly JsonSchema[], value: unknown, path: string): string | undefined => {
  const faults = variants.flatMap((variant) => explainSchema(variant, value, path) ?? []);
  const depth = (fault: string) => (fault.split(' ', 1)[0]?.match(/[.[]/g) ?? []).length;
  return faults.reduce((best, fault) => (depth(fault) > depth(best) ? fault : best));
};

/** A field that every variant pins to literals of its own. */
export const discriminator = (variants: readonly JsonSchema[]): string | undefined => {
  const names = Object.keys(variants[0]?.properties ?? {});
  return names.find((name) =>
    variants.every((variant) => literals(variant.properties?.[name] ?? {}) !== undefined),
  );
};

const explainLiteral = (schema: JsonSchema, value: unknown, path: string): string | undefined => {
  const allowed = literals(schema) ?? [];
  return allowed.includes(value)
    ? undefined
    : `${subject(path)} must be ${schema.expected ?? oneOf(allowed)}`;
};

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

// ── words ──────────────────────────────────────────────────────────────────────────────────────────

const words: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  null: 'null',
};

const describe = (schema: JsonSchema): string => {
  if (schema.expected !== undefined) return schema.expected;
  const fixed = literals(schema);
  return fixed === undefined ? (words[schema.type ?? ''] ?? 'of another type') : oneOf(fixed);
};

const describeAll = (branches: readonly JsonSchema[]): string => {
  const fixed = branches.flatMap((branch) => literals(branch) ?? []);
  const kinds = branches.filter((branch) => literals(branch) === undefined).map(describe);
  const parts = [...(fixed.length > 0 ? [oneOf(fixed)] : []), ...new Set(kinds)];
  const last = parts.pop() ?? '';
  return parts.length === 0 ? last : `${parts.join(', ')} or ${last}`;
};

const oneOf = (values: readonly unknown[]): string => {
  const unique = [...new Set(values.map((value) => JSON.stringify(value)))];
  return unique.length === 1 ? (unique[0] ?? '') : `one of ${unique.join(', ')}`;
};

const subject = (path: string): string => (path === '' ? 'The request body' : path);

const join = (path: string, name: string): string => {
  if (!/^[A-Za-z_$][\w$-]*$/.test(name)) return `${path}[${JSON.stringify(name.slice(0, 100))}]`;
  return path === '' ? name : `${path}.${name}`;
};

const count = (amount: number, noun: string): string => `${amount} ${noun}${amount === 1 ? '' : 's'}`;

/** Unicode characters, not UTF-16 units. */
const characters = (text: string): number => {
  let total = 0;
  for (const _ of text) total++;
  return total;
};

// ── types ──────────────────────────────────────────────────────────────────────────────────────────

const hasType = (schema: JsonSchema, value: unknown): boolean => {
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

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
