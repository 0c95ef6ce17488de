/** A schema and a value in; whether the value fits out. It spends a budget and runs no pattern somebody else wrote. */
import { type Budget, SchemaProblem } from './budget.ts';
import { canonical } from './canonical.ts';
import {
  isObject,
  type JsonType,
  type Keywords,
  mapOf,
  readKeywords,
  type SchemaObject,
} from './keywords.ts';
import { resolveReference } from './reference.ts';

export interface Check {
  readonly root: unknown;
  readonly budget: Budget;
  /**
   * Strings are made to fit `pattern` and `format`, so that both may count as met: a `no` is certain, a `yes` nearly.
   * Where a `yes` must be certain too (a condition, a double negation), schemas with either are refused.
   */
  readonly trust: 'no' | 'no, negated' | 'both';
}

export function fits(schema: unknown, value: unknown, check: Check): boolean {
  if (typeof schema === 'boolean') return schema;
  if (!isObject(schema)) return true;
  return check.budget.step(
    () => fitsKeywords(readKeywords(schema), value, check) && fitsBranches(schema, value, check),
  );
}

/** The keywords of one schema, its references and branches aside. */
export function fitsKeywords(keywords: Keywords, value: unknown, check: Check): boolean {
  if (keywords.types !== undefined && !keywords.types.some((type) => isOf(value, type))) return false;
  if (
    keywords.values !== undefined &&
    !keywords.values.some((one) => one === value || canonical(one) === canonical(value))
  )
    return false;
  if (typeof value === 'number') return fitsNumber(keywords, value);
  if (typeof value === 'string') return fitsString(keywords, value, check);
  if (Array.isArray(value)) return fitsArray(keywords, value, check);
  return isObject(value) ? fitsObject(keywords, value, check) : true;
}

function fitsBranches(schema: SchemaObject, value: unknown, check: Check): boolean {
  const one = (branch: unknown) => fits(branch, value, check);
  if (typeof schema.$ref === 'string' && !one(resolveReference(check.root, schema.$ref))) return false;
  if (Array.isArray(schema.allOf) && !schema.allOf.every(one)) return false;
  if (Array.isArray(schema.anyOf) && !schema.anyOf.some(one)) return false;
  if (Array.isArray(schema.oneOf) && !fitsExactlyOne(schema.oneOf, value, check)) return false;
  if ('not' in schema && fits(schema.not, value, negated(check))) return false;
  if ('if' in schema) {
    const condition = fits(schema.if, value, { ...check, trust: 'both' });
    if (!one((condition ? schema.then : schema.else) ?? true)) return false;
  }
  return fitsDependents(mapOf(schema.dependentSchemas), value, check);
}

function fitsExactlyOne(branches: readonly unknown[], value: unknown, check: Check): boolean {
  const counted: Check = check.trust === 'no' ? check : { ...check, trust: 'both' };
  return branches.filter((branch) => fits(branch, value, counted)).length === 1;
}

const negated = (check: Check): Check => ({ ...check, trust: check.trust === 'no' ? 'no, negated' : 'both' });

function fitsDependents(
  schemas: ReadonlyMap<string, unknown> | undefined,
  value: unknown,
  check: Check,
): boolean {
  if (schemas === undefined || !isObject(value)) return true;
  return [...schemas].every(([name, schema]) => !Object.hasOwn(value, name) || fits(schema, value, check));
}

function fitsNumber(keywords: Keywords, value: number): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = keywords;
  if (minimum !== undefined && value < minimum) return false;
  if (maximum !== undefined && value > maximum) return false;
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return false;
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) return false;
  if (multipleOf === undefined || multipleOf <= 0) return true;
  const times = value / multipleOf;
  return Math.abs(times - Math.round(times)) < 1e-9;
}

function fitsString(keywords: Keywords, value: string, check: Check): boolean {
  const { minLength, maxLength, pattern, format } = keywords;
  if (check.trust === 'both' && (pattern !== undefined || format !== undefined)) {
    throw new SchemaProblem('uses "pattern" or "format" in a condition, which the simulator cannot decide');
  }
  if (minLength === undefined && maxLength === undefined) return true;
  const length = [...value].length;
  return length >= (minLength ?? 0) && length <= (maxLength ?? Number.POSITIVE_INFINITY);
}

function fitsArray(keywords: Keywords, value: readonly unknown[], check: Check): boolean {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, prefix = [], items, contains } = keywords;
  if (value.length < minItems || value.length > maxItems) return false;
  if (keywords.unique && new Set(value.map(canonical)).size < value.length) return false;
  if (contains !== undefined && !value.some((item) => fits(contains, item, check))) return false;
  return value.every((item, index) =>
    fits(index < prefix.length ? prefix[index] : (items ?? true), item, check),
  );
}

function fitsObject(keywords: Keywords, value: SchemaObject, check: Check): boolean {
  const names = Object.keys(value);
  const { properties, required = [], additional, minProperties = 0, dependent } = keywords;
  if (names.length < minProperties || names.length > (keywords.maxProperties ?? Number.POSITIVE_INFINITY))
    return false;
  if (!required.every((name) => Object.hasOwn(value, name))) return false;
  for (const [name, needed] of dependent ?? []) {
    if (Object.hasOwn(value, name) && !needed.every((other) => Object.hasOwn(value, other))) return false;
  }
  return names.every((name) => {
    if (keywords.names !== undefined && !fits(keywords.names, name, check)) return false;
    return fits(properties?.has(name) ? properties.get(name) : (additional ?? true), value[name], check);
  });
}

function isOf(value: unknown, type: JsonType): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    default:
      return typeof value === type;
  }
}
