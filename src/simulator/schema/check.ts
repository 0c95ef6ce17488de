/** Checks that a value certainly fits a schema, within a budget and without foreign patterns. */
import { hasType, isObject } from '../../helpers/json-schema.ts';
import { type Budget, charactersPerUnit } from './budget.ts';
import { canonical } from './canonical.ts';
import { isFormatted } from './formats.ts';
import { type Keywords, mapOf, readKeywords, type SchemaObject } from './keywords.ts';
import { matches } from './pattern.ts';
import { resolveReference } from './reference.ts';

/** Whether a value fits, as a number: of several verdicts the least is "all fit", the greatest "any fits". */
type Verdict = number;
const no = 0;
/** For patterns and formats that are not understood well enough to say. */
const maybe = 1;
const yes = 2;
const allOf = (verdicts: readonly Verdict[]): Verdict => Math.min(yes, ...verdicts);
const anyOf = (verdicts: readonly Verdict[]): Verdict => Math.max(no, ...verdicts);

interface Check {
  readonly root: unknown;
  readonly budget: Budget;
}

export function fits(schema: unknown, value: unknown, check: Check): boolean {
  return judge(schema, value, check) === yes;
}

/** The keywords of one schema alone, its references and branches aside. */
export function fitsKeywords(keywords: Keywords, value: unknown, check: Check): boolean {
  return judgeKeywords(keywords, value, check) === yes;
}

function judge(schema: unknown, value: unknown, check: Check): Verdict {
  if (!isObject(schema)) return schema === false ? no : yes;
  return check.budget.step(() => {
    const own = judgeKeywords(readKeywords(schema, check.budget), value, check);
    return own === no ? no : allOf([own, ...judgeBranches(schema, value, check)]);
  });
}

function judgeBranches(schema: SchemaObject, value: unknown, check: Check): readonly Verdict[] {
  const verdicts: Verdict[] = [];
  const one = (branch: unknown) => judge(branch, value, check);
  if (typeof schema.$ref === 'string')
    verdicts.push(one(resolveReference(check.root, schema.$ref, check.budget)));
  if (Array.isArray(schema.allOf)) verdicts.push(...schema.allOf.map(one));
  if (Array.isArray(schema.anyOf)) verdicts.push(anyOf(schema.anyOf.map(one)));
  if (Array.isArray(schema.oneOf)) verdicts.push(judgeOneOf(schema.oneOf, value, check));
  if ('not' in schema) verdicts.push(yes - one(schema.not));
  if ('if' in schema) verdicts.push(judgeCondition(schema, value, check));
  for (const [name, dependent] of mapOf(schema.dependentSchemas) ?? []) {
    check.budget.spend(1);
    if (isObject(value) && Object.hasOwn(value, name)) verdicts.push(one(dependent));
  }
  return verdicts;
}

function judgeOneOf(branches: readonly unknown[], value: unknown, check: Check): Verdict {
  const verdicts = branches.map((branch) => judge(branch, value, check));
  const certain = verdicts.filter((verdict) => verdict === yes).length;
  const possible = verdicts.filter((verdict) => verdict !== no).length;
  if (certain > 1 || possible === 0) return no;
  return certain === 1 && possible === 1 ? yes : maybe;
}

function judgeCondition(schema: SchemaObject, value: unknown, check: Check): Verdict {
  const outcome = (branch: unknown) => judge(branch ?? true, value, check);
  const condition = judge(schema.if, value, check);
  if (condition !== maybe) return outcome(condition === yes ? schema.then : schema.else);
  const [one, other] = [outcome(schema.then), outcome(schema.else)];
  return one === other ? one : maybe;
}

function judgeKeywords(keywords: Keywords, value: unknown, check: Check): Verdict {
  if (keywords.types !== undefined && !keywords.types.some((type) => hasType({ type }, value))) return no;
  if (keywords.values !== undefined && !isAmong(keywords.values, value, check.budget)) return no;
  if (typeof value === 'number') return fitsNumber(keywords, value) ? yes : no;
  if (typeof value === 'string') return judgeString(keywords, value, check.budget);
  if (Array.isArray(value)) return judgeArray(keywords, value, check);
  return isObject(value) ? judgeObject(keywords, value, check) : yes;
}

function isAmong(values: readonly unknown[], value: unknown, budget: Budget): boolean {
  budget.spend(values.length / 4);
  if (values.includes(value)) return true;
  if (typeof value !== 'object' || value === null) return false;
  const text = canonical(value, budget);
  return values.some((one) => typeof one === 'object' && canonical(one, budget) === text);
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

function judgeString(keywords: Keywords, value: string, budget: Budget): Verdict {
  budget.spend(value.length / charactersPerUnit);
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format } = keywords;
  const length = minLength > 0 || maxLength < value.length ? [...value].length : value.length;
  if (length < minLength || length > maxLength) return no;
  const isCertain =
    (pattern === undefined || matches(pattern, value, budget)) &&
    (format === undefined || isFormatted(format, value));
  return isCertain ? yes : maybe;
}

function judgeArray(keywords: Keywords, value: readonly unknown[], check: Check): Verdict {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, prefix = [], items, contains } = keywords;
  if (value.length < minItems || value.length > maxItems) return no;
  check.budget.spend(value.length);
  if (keywords.unique && new Set(value.map((item) => canonical(item, check.budget))).size < value.length)
    return no;
  const verdicts = value.map((item, index) =>
    judge(index < prefix.length ? prefix[index] : (items ?? true), item, check),
  );
  if (contains !== undefined) verdicts.push(anyOf(value.map((item) => judge(contains, item, check))));
  return allOf(verdicts);
}

function judgeObject(keywords: Keywords, value: SchemaObject, check: Check): Verdict {
  const { properties, required = [], additional, names: namesSchema, dependent } = keywords;
  const { minProperties = 0, maxProperties = Number.POSITIVE_INFINITY } = keywords;
  const names = Object.keys(value);
  check.budget.spend(names.length + required.length);
  if (names.length < minProperties || names.length > maxProperties) return no;
  if (!required.every((name) => Object.hasOwn(value, name))) return no;
  for (const [name, needed] of dependent ?? []) {
    check.budget.spend(1 + needed.length);
    if (Object.hasOwn(value, name) && !needed.every((other) => Object.hasOwn(value, other))) return no;
  }
  const verdicts: Verdict[] = keywords.patterned && names.length > 0 ? [maybe] : [];
  for (const name of names) {
    if (namesSchema !== undefined) verdicts.push(judge(namesSchema, name, check));
    const isNamed = properties?.has(name) === true;
    // What `patternProperties` names is not additional, and is not distinguished here.
    if (!isNamed && keywords.patterned) continue;
    verdicts.push(judge(isNamed ? properties.get(name) : (additional ?? true), value[name], check));
  }
  return allOf(verdicts);
}
