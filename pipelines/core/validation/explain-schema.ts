/** A schema and a value that does not fit it in; one sentence naming the first field at fault out. */
import { Compile } from 'typebox/compile';
import { alternatives, discriminator, hasType, isObject, type JsonSchema, literals } from './json-schema.ts';

/** Where in the value we are; text is made of it only for a fault. */
type Path = (string | number)[];

/** Undefined when the value fits. */
export const explainSchema = (schema: JsonSchema, value: unknown): string | undefined =>
  explain(schema, value, []);

const explain = (schema: JsonSchema, value: unknown, path: Path): string | undefined => {
  if (schema.anyOf !== undefined) return explainUnion(alternatives(schema), value, path);
  if (schema.const !== undefined || schema.enum !== undefined) return explainLiteral(schema, value, path);
  if (!hasType(schema, value)) return `${subject(path)} must be ${describe(schema)}`;
  const fault = explainTyped(schema, value, path);
  if (fault !== undefined)
    return isScalar(value) && schema.expected !== undefined
      ? `${subject(path)} must be ${schema.expected}`
      : fault;
  return firstFault(schema.allOf ?? [], (part) => explain(part, value, path));
};

const explainAt = (
  schema: JsonSchema,
  value: unknown,
  path: Path,
  step: string | number,
): string | undefined => {
  path.push(step);
  const fault = explain(schema, value, path);
  path.pop();
  return fault;
};

const firstFault = <T>(items: Iterable<T>, look: (item: T) => string | undefined): string | undefined => {
  for (const item of items) {
    const fault = look(item);
    if (fault !== undefined) return fault;
  }
  return undefined;
};

// ── one type ───────────────────────────────────────────────────────────────────────────────────────

const explainTyped = (schema: JsonSchema, value: unknown, path: Path): string | undefined => {
  if (typeof value === 'string') return explainString(schema, value, path);
  if (typeof value === 'number') return explainNumber(schema, value, path);
  if (Array.isArray(value)) return explainArray(schema, value, path);
  return isObject(value) ? explainObject(schema, value, path) : undefined;
};

const explainString = (schema: JsonSchema, value: string, path: Path): string | undefined => {
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

const explainNumber = (schema: JsonSchema, value: number, path: Path): string | undefined => {
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

const explainArray = (schema: JsonSchema, value: readonly unknown[], path: Path): string | undefined => {
  const { minItems, maxItems, items } = schema;
  if (minItems !== undefined && value.length < minItems)
    return `${subject(path)} must have at least ${count(minItems, 'item')}`;
  if (maxItems !== undefined && value.length > maxItems)
    return `${subject(path)} must have at most ${count(maxItems, 'item')}`;
  if (items === undefined) return undefined;
  const suspects = value.length > longArray ? misfits(items, value) : value.entries();
  return firstFault(suspects, ([index, item]) => explainAt(items, item, path, index));
};

const longArray = 16;
const checks = new WeakMap<JsonSchema, (value: unknown) => boolean>();

/** A long list is gone through by the compiled check, fifty times as fast as the words are found. */
const misfits = (schema: JsonSchema, values: readonly unknown[]): Iterable<[number, unknown]> => {
  let check = checks.get(schema);
  if (check === undefined) {
    const compiled = Compile(schema);
    check = (value) => compiled.Check(value);
    checks.set(schema, check);
  }
  const index = values.findIndex((value) => !check(value));
  return index < 0 ? [] : [[index, values[index]]];
};

/** A wrong `type` or `role` says more than a field that is missing because of it; so literals come first. */
const explainObject = (
  schema: JsonSchema,
  value: Record<string, unknown>,
  path: Path,
): string | undefined => {
  const { properties = {}, required = [] } = schema;
  const names = Object.keys(value);
  const explainField = (name: string) => explainProperty(schema, value, name, path);
  return (
    firstFault(names, (name) => (isPinned(properties, name) ? explainField(name) : undefined)) ??
    firstFault(required, (name) =>
      value[name] === undefined ? `${subject([...path, name])} is required` : undefined,
    ) ??
    explainCount(schema, names.length, path) ??
    firstFault(names, explainField)
  );
};

const isPinned = (properties: Readonly<Record<string, JsonSchema>>, name: string): boolean =>
  Object.hasOwn(properties, name) && literals(properties[name] ?? {}) !== undefined;

const explainCount = (schema: JsonSchema, fields: number, path: Path): string | undefined => {
  const { minProperties, maxProperties } = schema;
  if (minProperties !== undefined && fields < minProperties)
    return `${subject(path)} must have at least ${count(minProperties, 'field')}`;
  if (maxProperties !== undefined && fields > maxProperties)
    return `${subject(path)} must have at most ${count(maxProperties, 'field')}`;
  return undefined;
};

const explainProperty = (
  schema: JsonSchema,
  value: Record<string, unknown>,
  name: string,
  path: Path,
): string | undefined => {
  const { properties = {}, patternProperties = {}, additionalProperties } = schema;
  const declared = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (declared !== undefined) return explainAt(declared, value[name], path, name);
  const matching = Object.entries(patternProperties).find(([pattern]) => new RegExp(pattern, 'u').test(name));
  if (matching !== undefined) return explainAt(matching[1], value[name], path, name);
  if (additionalProperties === false) return `${subject([...path, name])} is not a known field`;
  return typeof additionalProperties === 'object'
    ? explainAt(additionalProperties, value[name], path, name)
    : undefined;
};

// ── one of several ─────────────────────────────────────────────────────────────────────────────────

const explainUnion = (branches: readonly JsonSchema[], value: unknown, path: Path): string | undefined => {
  const fitting = branches.filter((branch) => hasType(branch, value));
  const faults: string[] = [];
  for (const branch of fitting) {
    const fault = explain(branch, value, path);
    if (fault === undefined) return undefined;
    if (literals(branch) === undefined) faults.push(fault);
  }
  const [only] = faults;
  if (only !== undefined && faults.length === 1) return only;
  if (only !== undefined && isObject(value)) return explainVariants(fitting, value, path) ?? deepest(faults);
  return `${subject(path)} must be ${describeAll(branches)}`;
};

/** The variant that the value's own `type`, `role` or other literal field points at is the one it was meant to be. */
const explainVariants = (
  variants: readonly JsonSchema[],
  value: Record<string, unknown>,
  path: Path,
): string | undefined => {
  const key = discriminator(variants);
  if (key === undefined) return undefined;
  const allowed = variants.flatMap((variant) => literals(variant.properties?.[key] ?? {}) ?? []);
  if (value[key] === undefined) return `${subject([...path, key])} is required`;
  if (!allowed.includes(value[key])) return `${subject([...path, key])} must be ${oneOf(allowed)}`;
  const meant = variants.filter((variant) => literals(variant.properties?.[key] ?? {})?.includes(value[key]));
  return deepest(meant.flatMap((variant) => explain(variant, value, path) ?? []));
};

/** Of several faults the one deepest inside the value: that variant fitted furthest. */
const deepest = (faults: readonly string[]): string => {
  const depth = (fault: string) => (fault.split(' ', 1)[0]?.match(/[.[]/g) ?? []).length;
  return faults.reduce((best, fault) => (depth(fault) > depth(best) ? fault : best));
};

const explainLiteral = (schema: JsonSchema, value: unknown, path: Path): string | undefined => {
  const allowed = literals(schema) ?? [];
  return allowed.includes(value)
    ? undefined
    : `${subject(path)} must be ${schema.expected ?? oneOf(allowed)}`;
};

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

/** `messages[0].role` */
export const subject = (path: Path): string => {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!/^[A-Za-z_$][\w$-]*$/.test(step)) text += `[${JSON.stringify(step.slice(0, 100))}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text === '' ? 'The request body' : text;
};

const count = (amount: number, noun: string): string => `${amount} ${noun}${amount === 1 ? '' : 's'}`;

/** Unicode characters, not UTF-16 units. */
const characters = (text: string): number => {
  let total = 0;
  for (const _ of text) total++;
  return total;
};

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null;
