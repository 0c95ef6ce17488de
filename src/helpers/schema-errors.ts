/** Explains why a value does not fit a schema: each field at fault, and what it must be. */
import { Compile } from 'typebox/compile';
import {
  alternatives,
  discriminator,
  hasType,
  isObject,
  type JsonSchema,
  literals,
  variantsOf,
} from './json-schema.ts';

/** Keys and list positions from the top of the value. */
export type Path = readonly (string | number)[];

export interface SchemaError {
  readonly path: Path;
  /** Continues the field's name: `must be an integer`. */
  readonly says: string;
}

/** What differs between the error of a request and that of a configuration file. */
export interface Wording {
  readonly types: Readonly<Record<string, string>>;
  readonly missing: string;
  /** What a fitting value is, where the schema has words for it. */
  readonly expected: (schema: JsonSchema) => string | undefined;
  readonly oneOf: (values: readonly unknown[]) => string;
  readonly unknownField: (name: string, schema: JsonSchema) => string;
  /** Out of a range that has both ends, one names both. */
  readonly wholeRange: boolean;
}

/** Arrays longer than this are searched by the compiled check, fifty times as fast as by explaining each item. */
const longArray = 16;

export class SchemaExplainer {
  readonly #words: Wording;
  readonly #checks = new WeakMap<JsonSchema, (value: unknown) => boolean>();

  constructor(words: Wording) {
    this.#words = words;
  }

  /** Lazy, as a request needs the first only and may have a million; nothing where the value fits. */
  *errors(schema: JsonSchema, value: unknown, path: Path = []): Generator<SchemaError, undefined> {
    if (schema.anyOf !== undefined) return yield* this.#union(alternatives(schema), value, path);
    if (schema.const !== undefined || schema.enum !== undefined) {
      if (literals(schema)?.includes(value) !== true) yield must(path, this.#describe(schema));
      return undefined;
    }
    if (!hasType(schema, value)) return yield must(path, this.#describe(schema));
    const expected = this.#words.expected(schema);
    if (expected === undefined || typeof value === 'object') yield* this.#typed(schema, value, path);
    else if (first(this.#typed(schema, value, path)) !== undefined) yield must(path, expected);
    for (const part of schema.allOf ?? []) yield* this.errors(part, value, path);
    return undefined;
  }

  // ── one type ─────────────────────────────────────────────────────────────────────────────────────

  *#typed(schema: JsonSchema, value: unknown, path: Path): Generator<SchemaError> {
    if (typeof value === 'string') yield* stringErrors(schema, value, path);
    else if (typeof value === 'number') yield* this.#number(schema, value, path);
    else if (Array.isArray(value)) yield* this.#array(schema, value, path);
    else if (isObject(value)) yield* this.#object(schema, value, path);
  }

  *#number(schema: JsonSchema, value: number, path: Path): Generator<SchemaError> {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
    const low = minimum !== undefined && value < minimum;
    if (low || (maximum !== undefined && value > maximum)) {
      const both = this.#words.wholeRange && minimum !== undefined && maximum !== undefined;
      if (both) yield must(path, `between ${minimum} and ${maximum}`);
      else yield must(path, low ? `at least ${minimum}` : `at most ${maximum}`);
    } else if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
      yield must(path, `greater than ${exclusiveMinimum}`);
    else if (exclusiveMaximum !== undefined && value >= exclusiveMaximum)
      yield must(path, `less than ${exclusiveMaximum}`);
    else if (multipleOf !== undefined && value % multipleOf !== 0)
      yield must(path, `a multiple of ${multipleOf}`);
  }

  *#array(schema: JsonSchema, value: readonly unknown[], path: Path): Generator<SchemaError> {
    const { items, uniqueItems } = schema;
    yield* countErrors(value.length, schema.minItems, schema.maxItems, 'item', path);
    if (uniqueItems === true && new Set(value.map((item) => JSON.stringify(item))).size < value.length)
      yield { path, says: 'must not have the same item twice' };
    if (items === undefined) return;
    const fits = value.length > longArray ? this.#check(items) : () => false;
    for (const [index, item] of value.entries())
      if (!fits(item)) yield* this.errors(items, item, [...path, index]);
  }

  #check(schema: JsonSchema): (value: unknown) => boolean {
    let check = this.#checks.get(schema);
    if (check === undefined) {
      const compiled = Compile(schema);
      check = (value) => compiled.Check(value);
      this.#checks.set(schema, check);
    }
    return check;
  }

  /** A wrong `type` or `role` says more than a field that is missing because of it; so literals come first. */
  *#object(schema: JsonSchema, value: Record<string, unknown>, path: Path): Generator<SchemaError> {
    const { properties = {}, required = [], propertyNames, minProperties, maxProperties } = schema;
    const names = Object.keys(value);
    const isPinned = (name: string): boolean =>
      Object.hasOwn(properties, name) && literals(properties[name] ?? {}) !== undefined;
    for (const name of names) if (isPinned(name)) yield* this.#property(schema, value, name, path);
    for (const name of required)
      if (value[name] === undefined) yield { path: [...path, name], says: this.#words.missing };
    yield* countErrors(names.length, minProperties, maxProperties, 'field', path);
    const longest = propertyNames?.maxLength ?? Number.POSITIVE_INFINITY;
    // The name itself is not repeated: it may be as long as the body.
    if (names.some((name) => characters(name) > longest))
      yield { path, says: `must have keys of at most ${longest} characters` };
    for (const name of names) if (!isPinned(name)) yield* this.#property(schema, value, name, path);
  }

  *#property(
    schema: JsonSchema,
    value: Record<string, unknown>,
    name: string,
    path: Path,
  ): Generator<SchemaError> {
    const { properties = {}, patternProperties = {}, additionalProperties } = schema;
    const matching = Object.hasOwn(properties, name)
      ? properties[name]
      : Object.entries(patternProperties).find(([pattern]) => new RegExp(pattern, 'u').test(name))?.[1];
    const declared = matching ?? additionalProperties;
    if (declared === false) yield { path: [...path, name], says: this.#words.unknownField(name, schema) };
    else if (typeof declared === 'object') yield* this.errors(declared, value[name], [...path, name]);
  }

  // ── one of several ───────────────────────────────────────────────────────────────────────────────

  *#union(branches: readonly JsonSchema[], value: unknown, path: Path): Generator<SchemaError, undefined> {
    const fitting: JsonSchema[] = [];
    const faults: SchemaError[] = [];
    for (const branch of branches) {
      if (!hasType(branch, value)) continue;
      const fault = first(this.errors(branch, value, path));
      if (fault === undefined) return undefined;
      if (literals(branch) !== undefined) continue;
      fitting.push(branch);
      faults.push(fault);
    }
    const [only] = faults;
    const [meant] = fitting;
    if (meant !== undefined && fitting.length === 1) yield* this.errors(meant, value, path);
    else if (only !== undefined && isObject(value))
      yield this.#variants(fitting, value, path) ?? deepest(faults) ?? only;
    else yield must(path, this.#describeAll(branches));
    return undefined;
  }

  /** The variant that the value's own `type`, `role` or other literal field points at is the one it was meant to be. */
  #variants(
    variants: readonly JsonSchema[],
    value: Record<string, unknown>,
    path: Path,
  ): SchemaError | undefined {
    const key = discriminator(variants);
    if (key === undefined) return undefined;
    const meant = variantsOf(variants, key, value[key]);
    if (meant.length === 0) {
      if (value[key] === undefined) return { path: [...path, key], says: this.#words.missing };
      const allowed = variants.flatMap((variant) => literals(variant.properties?.[key] ?? {}) ?? []);
      return must([...path, key], this.#words.oneOf(allowed));
    }
    return deepest(meant.flatMap((variant) => first(this.errors(variant, value, path)) ?? []));
  }

  #describe(schema: JsonSchema): string {
    const { expected, types, oneOf } = this.#words;
    const fixed = literals(schema);
    return (
      expected(schema) ??
      (fixed === undefined ? (types[schema.type ?? ''] ?? 'of another type') : oneOf(fixed))
    );
  }

  #describeAll(branches: readonly JsonSchema[]): string {
    const fixed = branches.flatMap((branch) => literals(branch) ?? []);
    const kinds = branches
      .filter((branch) => literals(branch) === undefined)
      .map((branch) => this.#describe(branch));
    const parts = [...(fixed.length > 0 ? [this.#words.oneOf(fixed)] : []), ...new Set(kinds)];
    const last = parts.pop() ?? '';
    return parts.length === 0 ? last : `${parts.join(', ')} or ${last}`;
  }
}

function* stringErrors(schema: JsonSchema, value: string, path: Path): Generator<SchemaError> {
  const { minLength, maxLength, pattern } = schema;
  if (minLength === 1 && value === '') yield { path, says: 'must not be empty' };
  else if (minLength !== undefined || maxLength !== undefined)
    yield* countErrors(characters(value), minLength, maxLength, 'character', path);
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value))
    yield { path, says: `must match ${pattern}` };
}

function* countErrors(
  amount: number,
  least: number | undefined,
  most: number | undefined,
  noun: string,
  path: Path,
): Generator<SchemaError> {
  const count = (limit: number): string => `${limit} ${noun}${limit === 1 ? '' : 's'}`;
  if (least !== undefined && amount < least) yield { path, says: `must have at least ${count(least)}` };
  if (most !== undefined && amount > most) yield { path, says: `must have at most ${count(most)}` };
}

const must = (path: Path, what: string): SchemaError => ({ path, says: `must be ${what}` });

const first = (errors: Iterable<SchemaError>): SchemaError | undefined => {
  for (const error of errors) return error;
  return undefined;
};

/** Of several errors the one deepest inside the value: that variant fitted furthest. */
const deepest = (errors: readonly SchemaError[]): SchemaError | undefined => {
  const depth = ({ path }: SchemaError) => Math.max(1, path.length);
  return errors.reduce<SchemaError | undefined>(
    (best, error) => (best === undefined || depth(error) > depth(best) ? error : best),
    undefined,
  );
};

/** Unicode characters, not UTF-16 units. */
const characters = (text: string): number => {
  let total = 0;
  for (const _ of text) total++;
  return total;
};
