/** Reads the known keywords of a JSON Schema, typed, and merges two sets of them. */
import { isObject } from '../../helpers/json-schema.ts';
import { type Budget, Contradiction, SchemaProblem } from './budget.ts';
import { canonical } from './canonical.ts';

const jsonTypes = ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object'] as const;
export type JsonType = (typeof jsonTypes)[number];
export type SchemaObject = Readonly<Record<string, unknown>>;

/** Own keys only: schemas are untrusted and may name `__proto__`. */
export function mapOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  return isObject(value) ? new Map(Object.entries(value)) : undefined;
}

interface Rule<T> {
  /** What has the wrong type is read as absent. */
  read(schema: SchemaObject): T | undefined;
  /** Throws when the two contradict each other. */
  merge(one: T, other: T, budget: Budget): T;
}

const rule = <T>(read: Rule<T>['read'], merge: Rule<T>['merge']): Rule<T> => ({ read, merge });
const numeric = (name: string, merge: Rule<number>['merge']) =>
  rule((schema) => numberOf(schema[name]), merge);
const textual = (name: string) =>
  rule((schema) => (isString(schema[name]) ? schema[name] : undefined), same(name));
const nested = (read: Rule<unknown>['read']) => rule(read, both);
const flag = (read: (schema: SchemaObject) => boolean) =>
  rule<boolean>((schema) => read(schema) || undefined, first);
const most = (one: number, other: number): number => Math.max(one, other);
const least = (one: number, other: number): number => Math.min(one, other);
/** Both sides say the same, or `mergeKeywords` has a rule of its own. */
const first = <T>(one: T): T => one;

const rules = {
  types: rule(({ type }) => typesOf(type), mergeTypes),
  values: rule((schema) => ('const' in schema ? [schema.const] : arrayOf(schema.enum)), mergeValues),
  minimum: numeric('minimum', most),
  maximum: numeric('maximum', least),
  exclusiveMinimum: rule((schema) => exclusive(schema.exclusiveMinimum, schema.minimum), most),
  exclusiveMaximum: rule((schema) => exclusive(schema.exclusiveMaximum, schema.maximum), least),
  multipleOf: numeric('multipleOf', mergeMultiples),
  minLength: numeric('minLength', most),
  maxLength: numeric('maxLength', least),
  pattern: textual('pattern'),
  format: textual('format'),
  minItems: numeric('minItems', most),
  maxItems: numeric('maxItems', least),
  unique: flag(({ uniqueItems }) => uniqueItems === true),
  prefix: rule(({ items, prefixItems }) => arrayOf(items) ?? arrayOf(prefixItems), first),
  items: nested(({ items, additionalItems }) => (Array.isArray(items) ? additionalItems : items)),
  contains: nested(({ contains }) => contains),
  properties: rule(({ properties }) => mapOf(properties), first),
  required: rule(({ required }) => stringsOf(required), union),
  additional: nested(({ additionalProperties }) => additionalProperties),
  /** `patternProperties` says something about names. */
  patterned: flag(({ patternProperties }) => (mapOf(patternProperties)?.size ?? 0) > 0),
  names: nested(({ propertyNames }) => propertyNames),
  minProperties: numeric('minProperties', most),
  maxProperties: numeric('maxProperties', least),
  dependent: rule(
    ({ dependentRequired, dependencies }) => dependentOf(dependentRequired ?? dependencies),
    mergeDependent,
  ),
};

/** Keywords of one schema without references and branches. */
export type Keywords = {
  readonly [Key in keyof typeof rules]?: Exclude<ReturnType<(typeof rules)[Key]['read']>, undefined>;
};

/** Schemas are not changed, and each is read many times. */
const known = new WeakMap<SchemaObject, Keywords>();

export function readKeywords(schema: SchemaObject, budget: Budget): Keywords {
  const before = known.get(schema);
  if (before !== undefined) return before;
  budget.spend(readUnits + membersOf(schema));
  const keywords = present((key) => rules[key].read(schema));
  known.set(schema, keywords);
  return keywords;
}

const readUnits = 20;
const mergeUnits = 30;

/** Members of the lists and maps that are copied when it is read. */
function membersOf(schema: SchemaObject): number {
  let members = 0;
  for (const value of Object.values(schema)) {
    members += Array.isArray(value) ? value.length : isObject(value) ? Object.keys(value).length : 1;
  }
  return members;
}

const isEmpty = (keywords: Keywords): boolean => Object.keys(keywords).length === 0;

/** Members of what is copied when it is merged. */
const mergedMembers = ({ properties, prefix, required, values, dependent }: Keywords): number =>
  2 * (properties?.size ?? 0) +
  (prefix?.length ?? 0) +
  (required?.length ?? 0) +
  (values?.length ?? 0) +
  (dependent?.size ?? 0);

/** Both sets at once. Throws when they contradict each other. */
export function mergeKeywords(one: Keywords, other: Keywords, budget: Budget): Keywords {
  if (isEmpty(one)) return other;
  if (isEmpty(other)) return one;
  budget.spend(mergeUnits + mergedMembers(one) + mergedMembers(other));
  return present((key) => {
    // These depend on what the other side says of items and additional properties.
    if (key === 'prefix') return mergePrefix(one, other);
    if (key === 'properties') return mergeProperties(one, other);
    const { merge } = rules[key] as Rule<unknown>;
    const [left, right] = [one[key], other[key]];
    if (merge !== both && (left === undefined || right === undefined)) return left ?? right;
    return merge(left, right, budget);
  });
}

const present = (read: (key: keyof Keywords) => unknown): Keywords =>
  Object.fromEntries(
    (Object.keys(rules) as (keyof Keywords)[])
      .map((key) => [key, read(key)])
      .filter(([, value]) => value !== undefined),
  );

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

function mergeTypes(one: readonly JsonType[], other: readonly JsonType[]): readonly JsonType[] {
  const narrow = (from: readonly JsonType[], by: readonly JsonType[]) =>
    from.filter((type) => by.includes(type) || (type === 'integer' && by.includes('number')));
  const types = [...new Set([...narrow(one, other), ...narrow(other, one)])];
  if (types.length === 0)
    throw new Contradiction(`cannot be both ${one.join(' or ')} and ${other.join(' or ')}`);
  return types;
}

function mergeValues(one: readonly unknown[], other: readonly unknown[], budget: Budget): readonly unknown[] {
  const texts = new Set(other.map((value) => canonical(value, budget)));
  const values = one.filter((value) => texts.has(canonical(value, budget)));
  if (values.length === 0) throw new Contradiction('has no value that all of its enums allow');
  return values;
}

function mergeMultiples(one: number, other: number): number {
  return one % other === 0 ? one : other % one === 0 ? other : one * other;
}

function same(keyword: string): (one: string, other: string) => string {
  return (one, other) => {
    if (one === other) return one;
    throw new SchemaProblem(`has two values of "${keyword}" at once, which the simulator cannot meet`);
  };
}

function union(one: readonly string[], other: readonly string[]): readonly string[] {
  return [...new Set([...one, ...other])];
}

type Dependent = ReadonlyMap<string, readonly string[]>;

function mergeDependent(one: Dependent, other: Dependent, budget: Budget): Dependent {
  const merged = new Map(one);
  for (const [name, names] of other) {
    budget.spend(names.length + (merged.get(name)?.length ?? 0));
    merged.set(name, union(merged.get(name) ?? [], names));
  }
  return merged;
}

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
  return words?.flatMap((word) => jsonTypes.find((type) => type === word) ?? []);
}

function dependentOf(value: unknown): Dependent | undefined {
  const entries = [...(mapOf(value) ?? [])].flatMap(([name, names]) =>
    Array.isArray(names) ? [[name, stringsOf(names) ?? []] as const] : [],
  );
  return entries.length === 0 ? undefined : new Map(entries);
}
