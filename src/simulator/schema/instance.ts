/** Makes a value that is valid for a JSON Schema. */

import { isObject } from '../../helpers/json-schema.ts';
import type { Random } from '../random.ts';
import { type Allowance, Budget, Contradiction, SchemaProblem, tooDeep } from './budget.ts';
import { canonical } from './canonical.ts';
import { fits, fitsKeywords } from './check.ts';
import { flatten, type Maker } from './flatten.ts';
import { both, type JsonType, type Keywords } from './keywords.ts';
import { makeNumber } from './numbers.ts';
import { heightOf } from './reference.ts';
import { makeString } from './strings.ts';

const usualDepth = 3;
const attempts = 12;
const itemLimit = 2000;
/** Of the schema as JSON: twice as deep as its instances may be, as every property is under a name. */
const jsonDepth = 200;

/**
 * Makes values and checks them until one fits: `oneOf`, `not` and the like are met by trying again, first with all
 * that is optional, then without. Throws a SchemaProblem that says why the schema cannot be met.
 */
export function schemaInstance(
  schema: unknown,
  random: Random,
  offered: Offer,
  allowance: Allowance,
): unknown {
  checkSize(schema, new Budget(allowance));
  const full = tryOften(schema, random.fork('full'), offered, new Budget(allowance, 1 / 2), usualDepth);
  if (!(full instanceof SchemaProblem)) return full;
  const bare = tryOften(schema, random.fork('bare'), { ...offered, hints: [] }, new Budget(allowance), 0);
  if (!(bare instanceof SchemaProblem)) return bare;
  throw full;
}

interface Offer {
  readonly topics: readonly string[];
  readonly hints: readonly string[];
}

/** Before anything is copied: what is larger than all work allows is not looked into. */
function checkSize(schema: unknown, budget: Budget, depth = 0): void {
  if (typeof schema !== 'object' || schema === null) return;
  if (depth > jsonDepth) throw tooDeep();
  const values = Object.values(schema);
  budget.spend(values.length);
  for (const value of values) checkSize(value, budget, depth + 1);
}

function tryOften(
  schema: unknown,
  random: Random,
  offered: Offer,
  budget: Budget,
  fullDepth: number,
): unknown {
  let problem = new SchemaProblem('has no value that the simulator could find');
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const words = { topics: offered.topics, hints: [...offered.hints] };
    try {
      const maker = { root: schema, random: random.fork(`attempt ${attempt}`), budget, words, fullDepth };
      const value = make(maker, schema, '', 0);
      if (fits(schema, value, { root: schema, budget })) return value;
    } catch (thrown) {
      if (!(thrown instanceof SchemaProblem)) throw thrown;
      problem = thrown;
      if (!(thrown instanceof Contradiction)) break;
    }
  }
  return problem;
}

function make(maker: Maker, schema: unknown, name: string, depth: number): unknown {
  return maker.budget.step(() => {
    const keywords = flatten(schema, maker, depth >= maker.fullDepth);
    if (keywords.values !== undefined) return pickValue(maker, keywords, keywords.values);
    switch (chooseType(maker, keywords)) {
      case 'null':
        return null;
      case 'boolean':
        return maker.random.fraction() < 0.5;
      case 'integer':
        return makeNumber(keywords, true, maker);
      case 'number':
        return makeNumber(keywords, false, maker);
      case 'string':
        return makeString(keywords, name, maker);
      case 'array':
        return makeArray(maker, keywords, name, depth);
      case 'object':
        return makeObject(maker, keywords, depth);
    }
  });
}

function pickValue(maker: Maker, keywords: Keywords, values: readonly unknown[]): unknown {
  // They are among the values: looking for each of them would take the square of their number.
  const { values: _, ...others } = keywords;
  maker.budget.spend(values.length);
  const fitting = values.filter((value) => fitsKeywords(others, value, maker));
  if (fitting.length === 0) throw new Contradiction('has no enum value that meets the rest of it');
  return fitting[maker.random.integer(0, fitting.length - 1)];
}

/** The first type that is not null; without a type, the one implied by other keywords. */
function chooseType(maker: Maker, keywords: Keywords): JsonType {
  if (keywords.types !== undefined) {
    const types = keywords.types.filter((type) => type !== 'null');
    return types[maker.random.integer(0, types.length - 1)] ?? 'null';
  }
  if (keywords.properties ?? keywords.required ?? keywords.additional ?? keywords.minProperties)
    return 'object';
  if (keywords.patterned || keywords.names !== undefined) return 'object';
  if (keywords.prefix ?? keywords.items ?? keywords.contains ?? keywords.minItems) return 'array';
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = keywords;
  const isNumber = minimum ?? maximum ?? exclusiveMinimum ?? exclusiveMaximum ?? multipleOf;
  if (isNumber !== undefined) return 'number';
  // A string is what a reader expects of "anything"; where none will do, anything else may.
  return maker.fullDepth > 0
    ? 'string'
    : maker.random.pick(['string', 'integer', 'boolean', 'null', 'object']);
}

function makeArray(maker: Maker, keywords: Keywords, name: string, depth: number): unknown[] {
  const { prefix = [], contains } = keywords;
  const low = Math.max(keywords.minItems ?? 0, contains === undefined ? 0 : prefix.length + 1);
  const high = Math.min(
    keywords.maxItems ?? Number.POSITIVE_INFINITY,
    keywords.items === false ? prefix.length : Number.POSITIVE_INFINITY,
  );
  if (low > high) throw new Contradiction('asks for more items than it allows');
  if (low > itemLimit) throw new SchemaProblem(`asks for more than ${itemLimit} items`);
  const wished = depth >= maker.fullDepth ? low : Math.max(low, prefix.length, maker.random.integer(1, 3));
  const length = Math.min(wished, high);
  const items: unknown[] = [];
  const seen = new Set<string>();
  for (let tries = 0; items.length < length && tries < length + attempts; tries += 1) {
    const index = items.length;
    const schema = index < prefix.length ? prefix[index] : keywords.items;
    const wanted = contains !== undefined && index === prefix.length ? both(schema, contains) : schema;
    const item = make(maker, wanted ?? true, name, depth + 1);
    const key = keywords.unique ? canonical(item, maker.budget) : '';
    if (keywords.unique && seen.has(key)) continue;
    seen.add(key);
    items.push(item);
  }
  if (items.length < low) throw new Contradiction('asks for more different items than were found');
  return items;
}

function makeObject(maker: Maker, keywords: Keywords, depth: number): Record<string, unknown> {
  const names = chooseNames(maker, keywords, depth);
  if (keywords.patterned && names.length > 0) {
    throw new SchemaProblem('uses "patternProperties" beside named properties, which the simulator cannot');
  }
  const object: Record<string, unknown> = {};
  for (const name of names) {
    const schema = keywords.properties?.has(name) ? keywords.properties.get(name) : keywords.additional;
    // Defined rather than set, so that a property called __proto__ is one like any other.
    const value = make(maker, schema ?? true, name, depth + 1);
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return object;
}

/** Required ones, optional ones while there is room, those that others depend on, and invented ones at need. */
function chooseNames(maker: Maker, keywords: Keywords, depth: number): readonly string[] {
  const { properties = new Map<string, unknown>(), required = [], dependent, minProperties = 0 } = keywords;
  const wanted = new Set(required);
  const high = Math.max(keywords.maxProperties ?? Number.POSITIVE_INFINITY, wanted.size);
  maker.budget.spend(properties.size + wanted.size);
  for (const [name, schema] of properties) {
    const isRoom = wanted.size < high && (depth < maker.fullDepth || wanted.size < minProperties);
    if (isRoom && schema !== false && Number.isFinite(heightOf(schema, maker))) wanted.add(name);
  }
  for (const name of wanted) {
    const others = dependent?.get(name) ?? [];
    maker.budget.spend(others.length);
    for (const other of others) wanted.add(other);
  }
  for (const name of inventNames(maker, keywords)) {
    if (wanted.size >= minProperties) break;
    wanted.add(name);
  }
  if (wanted.size < minProperties) throw new Contradiction('asks for more properties than it allows');
  const named = [...properties.keys()].filter((name) => wanted.has(name));
  return [...new Set([...named, ...wanted])];
}

function* inventNames(maker: Maker, { additional, names, minProperties = 0 }: Keywords): Generator<string> {
  if (additional === false || minProperties === 0) return;
  if (minProperties > itemLimit) throw new SchemaProblem(`asks for more than ${itemLimit} properties`);
  const schema = isObject(names) ? { allOf: [{ type: 'string' }, names] } : undefined;
  for (let index = 1; index <= minProperties * 2; index += 1)
    yield schema === undefined ? `property${index}` : String(make(maker, schema, '', 0));
}
