/** Flattens a schema into one set of keywords: references, `allOf`, and one branch per choice. */

import { isObject } from '../../helpers/json-schema.ts';
import type { Random } from '../random.ts';
import { type Budget, Contradiction } from './budget.ts';
import { type Keywords, mergeKeywords, readKeywords, type SchemaObject } from './keywords.ts';
import { heightOf, resolveReference } from './reference.ts';

/** What the conversation offers: each hint is used once, in order, before words are made up. */
export interface Words {
  readonly topics: readonly string[];
  readonly hints: string[];
}

/** All that making a value of the schema `root` needs. */
export interface Maker {
  readonly root: unknown;
  readonly random: Random;
  readonly budget: Budget;
  readonly words: Words;
  /** Down to this depth optional things are made as well. */
  readonly fullDepth: number;
}

/** `shallow` takes the branch that ends soonest, so that a recursive schema comes to an end. */
export function flatten(schema: unknown, maker: Maker, shallow: boolean): Keywords {
  if (schema === false) throw new Contradiction('allows no value at all');
  if (!isObject(schema)) return {};
  return maker.budget.step(() => {
    let keywords = readKeywords(schema, maker.budget);
    const join = (other: unknown) => {
      keywords = mergeKeywords(keywords, flatten(other, maker, shallow), maker.budget);
    };
    if (typeof schema.$ref === 'string') join(resolveReference(maker.root, schema.$ref, maker.budget));
    for (const one of listOf(schema.allOf)) join(one);
    for (const branches of choicesOf(schema)) keywords = choose(keywords, branches, maker, shallow);
    return keywords;
  });
}

/** Each choice a schema leaves open; a condition is a choice between its two outcomes. */
function choicesOf(schema: SchemaObject): readonly (readonly unknown[])[] {
  const condition =
    'if' in schema ? [{ allOf: [schema.if, schema.then ?? true] }, ...listOf(schema.else ?? true)] : [];
  return [listOf(schema.anyOf), listOf(schema.oneOf), condition].filter((branches) => branches.length > 0);
}

function choose(keywords: Keywords, branches: readonly unknown[], maker: Maker, shallow: boolean): Keywords {
  let contradiction = new Contradiction('leaves no branch to take');
  for (const branch of ordered(branches, maker, shallow)) {
    try {
      return mergeKeywords(keywords, flatten(branch, maker, shallow), maker.budget);
    } catch (thrown) {
      if (!(thrown instanceof Contradiction)) throw thrown;
      contradiction = thrown;
    }
  }
  throw contradiction;
}

function ordered(branches: readonly unknown[], maker: Maker, shallow: boolean): readonly unknown[] {
  maker.budget.spend(branches.length);
  const start = maker.random.integer(0, branches.length - 1);
  const turned = [...branches.slice(start), ...branches.slice(0, start)];
  if (!shallow) return turned.sort((one, other) => Number(isNull(one)) - Number(isNull(other)));
  const heights = new Map(turned.map((branch) => [branch, heightOf(branch, maker)]));
  return turned.sort((one, other) => (heights.get(one) ?? 0) - (heights.get(other) ?? 0));
}

/** "Or null" is how a field is made optional: the other branch is worth more to a reader. */
const isNull = (branch: unknown): boolean => isObject(branch) && branch.type === 'null';

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}
