/** Reads the known keywords of a JSON Schema, typed, and merges two sets of them. */
import { Contradiction, SchemaProblem } from './budget.ts';
import { canonical } from './canonical.ts';

export type JsonType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object';
export type SchemaObject = Readonly<Record<string, unknown>>;

/** Keywords of one schema without references and branches. What has the wrong type is read as absent. */
export interface Keywords {
  readonly types?: readonly JsonType[];
  readonly values?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly unique?: boolean;
  readonly prefix?: readonly unknown[];
  readonly items?: unknown;
  readonly contains?: unknown;
  readonly properties?: ReadonlyMap<string, unknown>;
  readonly required?: readonly string[];
  readonly additional?: unknown;
  /** `patternProperties` says something about names. */
  readonly patterned?: boolean;
  readonly names?: unknown;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly dependent?: ReadonlyMap<string, readonly string[]>;
}

export const jsonTypes: readonly string[] = [
  'null',
  'boolean',
  'integer',
  'number',
  'string',
  'array',
  'object',
] satisfies JsonType[];

export function isObject(value: unknown): value is SchemaObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Own keys only: schemas are untrusted and may name `__proto__`. */
export function mapOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  return isObject(value) ? new Map(Object.entries(value)) : undefined;
}

export function readKeywords(schema: SchemaObject): Keywords {
  const tuple = Array.isArray(schema.items) ? (schema.items as unknown[]) : undefined;
  return present({
    types: typesOf(schema.type),
    values: 'const' in schema ? [schema.const] : arrayOf(schema.enum),
    minimum: numberOf(schema.minimum),
    maximum: numberOf(schema.maximum),
    exclusiveMinimum: exclusive(schema.exclusiveMinimum, schema.minimum),
    exclusiveMaximum: exclusive(schema.exclusiveMaximum, schema.maximum),
    multipleOf: numberOf(schema.multipleOf),
    minLength: numberOf(schema.minLength),
    maxLength: numberOf(schema.maxLength),
    pattern: typeof schema.pattern === 'string' ? schema.pattern : undefined,
    format: typeof schema.format === 'string' ? schema.format : undefined,
    minItems: numberOf(schema.minItems),
    maxItems: numberOf(schema.maxItems),
    unique: schema.uniqueItems === true ? true : undefined,
    prefix: tuple ?? arrayOf(schema.prefixItems),
    items: tuple === undefined ? schema.items : schema.additionalItems,
    contains: schema.contains,
    properties: mapOf(schema.properties),
    required: stringsOf(schema.required),
    additional: schema.additionalProperties,
    patterned: (mapOf(schema.patternProperties)?.size ?? 0) > 0 ? true : undefined,
    names: schema.propertyNames,
    minProperties: numberOf(schema.minProperties),
    maxProperties: numberOf(schema.maxProperties),
    dependent: dependentOf(schema.dependentRequired ?? schema.dependencies),
  });
}

/** Both sets at once. Throws when they contradict each other. */
export function mergeKeywords(one: Keywords, other: Keywords): Keywords {
  return present({
    types: mergeTypes(one.types, other.types),
    values: mergeValues(one.values, other.values),
    minimum: higher(one.minimum, other.minimum),
    maximum: lower(one.maximum, other.maximum),
    exclusiveMinimum: higher(one.exclusiveMinimum, other.exclusiveMinimum),
    exclusiveMaximum: lower(one.exclusiveMaximum, other.exclusiveMaximum),
    multipleOf: mergeMultiples(one.multipleOf, other.multipleOf),
    minLength: higher(one.minLength, other.minLength),
    maxLength: lower(one.maxLength, other.maxLength),
    pattern: same('pattern', one.pattern, other.pattern),
    format: same('format', one.format, other.format),
    minItems: higher(one.minItems, other.minItems),
    maxItems: lower(one.maxItems, other.maxItems),
    unique: one.unique ?? other.unique,
    prefix: mergePrefix(one, other),
    items: both(one.items, other.items),
    contains: both(one.contains, other.contains),
    properties: mergeProperties(one, other),
    required: union(one.required, other.required),
    additional: both(one.additional, other.additional),
    patterned: one.patterned ?? other.patterned,
    names: both(one.names, other.names),
    minProperties: higher(one.minProperties, other.minProperties),
    maxProperties: lower(one.maxProperties, other.maxProperties),
    dependent: mergeDependent(one.dependent, other.dependent),
  });
}

/** A schema that asks for both; `false` stays `false`. */
export function both(one: unknown, other: unknown): unknown {
  if (one === undefined || one === true) return other;
  if (other === undefined || other === true) return one;
  return one === false || other === false ? false : { allOf: [one, other] };
}

/** A property only one side names must please the other side's rule for additional ones. */
function mergeProperties(one: Keywords, other: Keywords): ReadonlyMap<string, unknown> | undefined {
  if (one.properties === undefined && other.properties === undefined) return undefined;
  const merged = new Map<string, unknown>();
  for (const name of new Set([...(one.properties?.keys() ?? []), ...(other.properties?.keys() ?? [])])) {
    const left = one.properties?.has(name) ? one.properties.get(name) : one.additional;
    const right = other.properties?.has(name) ? other.properties.get(name) : other.additional;
    merged.set(name, both(left, right) ?? true);
  }
  return merged;
}

function mergePrefix(one: Keywords, other: Keywords): readonly unknown[] | undefined {
  const length = Math.max(one.prefix?.length ?? 0, other.prefix?.length ?? 0);
  if (length === 0) return undefined;
  return Array.from(
    { length },
    (_, index) => both(one.prefix?.[index] ?? one.items, other.prefix?.[index] ?? other.items) ?? true,
  );
}

function mergeTypes(
  one: readonly JsonType[] | undefined,
  other: readonly JsonType[] | undefined,
): readonly JsonType[] | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const narrow = (from: readonly JsonType[], by: readonly JsonType[]) =>
    from.filter((type) => by.includes(type) || (type === 'integer' && by.includes('number')));
  const types = [...new Set([...narrow(one, other), ...narrow(other, one)])];
  if (types.length === 0)
    throw new Contradiction(`cannot be both ${one.join(' or ')} and ${other.join(' or ')}`);
  return types;
}

function mergeValues(
  one: readonly unknown[] | undefined,
  other: readonly unknown[] | undefined,
): readonly unknown[] | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const known = new Set(other.map(canonical));
  const values = one.filter((value) => known.has(canonical(value)));
  if (values.length === 0) throw new Contradiction('has no value that all of its enums allow');
  return values;
}

function mergeMultiples(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one % other === 0 ? one : other % one === 0 ? other : one * other;
}

function same(keyword: string, one: string | undefined, other: string | undefined): string | undefined {
  if (one !== undefined && other !== undefined && one !== other) {
    throw new SchemaProblem(`has two values of "${keyword}" at once, which the simulator cannot meet`);
  }
  return one ?? other;
}

function union(
  one: readonly string[] | undefined,
  other: readonly string[] | undefined,
): readonly string[] | undefined {
  return one === undefined || other === undefined ? (one ?? other) : [...new Set([...one, ...other])];
}

function mergeDependent(one: Keywords['dependent'], other: Keywords['dependent']): Keywords['dependent'] {
  if (one === undefined || other === undefined) return one ?? other;
  const merged = new Map(one);
  for (const [name, names] of other) merged.set(name, union(merged.get(name), names) ?? []);
  return merged;
}

const higher = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);

const lower = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
const arrayOf = (value: unknown): readonly unknown[] | undefined =>
  Array.isArray(value) ? value : undefined;
const isString = (value: unknown): value is string => typeof value === 'string';
const stringsOf = (value: unknown): readonly string[] | undefined => arrayOf(value)?.filter(isString);

/** Draft 4 wrote `exclusiveMinimum: true` beside `minimum`. */
const exclusive = (value: unknown, bound: unknown): number | undefined =>
  numberOf(value === true ? bound : value);

function typesOf(value: unknown): readonly JsonType[] | undefined {
  const words = typeof value === 'string' ? [value] : arrayOf(value);
  return words?.filter((word): word is JsonType => isString(word) && jsonTypes.includes(word));
}

function dependentOf(value: unknown): ReadonlyMap<string, readonly string[]> | undefined {
  const entries = [...(mapOf(value) ?? [])].flatMap(([name, names]) =>
    Array.isArray(names) ? [[name, stringsOf(names) ?? []] as const] : [],
  );
  return entries.length === 0 ? undefined : new Map(entries);
}

type Draft = { [Key in keyof Keywords]: Keywords[Key] | undefined };

function present(draft: Draft): Keywords {
  return Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== undefined)) as Keywords;
}
