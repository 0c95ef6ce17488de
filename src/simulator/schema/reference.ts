/** Resolves references within a schema, and measures how deep they lead. */

import { isObject } from '../../helpers/json-schema.ts';
import { type Budget, charactersPerUnit, SchemaProblem } from './budget.ts';
import { readKeywords } from './keywords.ts';

/** References within the schema only: `#`, or `#/` and a JSON pointer. */
export function resolveReference(root: unknown, reference: string, budget: Budget): unknown {
  budget.spend(8 + reference.length / charactersPerUnit);
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) throw unresolved(reference);
  let target = root;
  for (const segment of reference.slice(2).split('/')) {
    const key = decode(segment, reference);
    const holder: object = typeof target === 'object' && target !== null ? target : {};
    if (!Object.hasOwn(holder, key)) throw unresolved(reference);
    target = (holder as Readonly<Record<string, unknown>>)[key];
  }
  return target;
}

function decode(segment: string, reference: string): string {
  try {
    return decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    throw unresolved(reference);
  }
}

const unresolved = (reference: string): SchemaProblem =>
  new SchemaProblem(`refers to "${reference.slice(0, 80)}", which is not in it`);

interface Measure {
  readonly root: unknown;
  readonly budget: Budget;
}

/** The depth of a schema's shallowest instance; infinite for endless recursion. */
export function heightOf(schema: unknown, { root, budget }: Measure): number {
  return measure(schema, { root, budget, open: new Set() });
}

/** `open` holds the references being measured: to meet one again is to recurse. */
function measure(schema: unknown, tools: Measure & { readonly open: Set<string> }): number {
  if (!isObject(schema)) return 0;
  return tools.budget.step(() => {
    const deepest = (schemas: readonly unknown[]) =>
      Math.max(0, ...schemas.map((one) => measure(one, tools)));
    const shallowest = (schemas: unknown) =>
      Array.isArray(schemas) ? Math.min(...schemas.map((one) => measure(one, tools))) : 0;
    const keywords = readKeywords(schema, tools.budget);
    tools.budget.spend(keywords.required?.length ?? 0);
    const inside = (keywords.required ?? []).map((name) => keywords.properties?.get(name));
    if ((keywords.minItems ?? 0) > 0) inside.push(...(keywords.prefix ?? []), keywords.items);
    return Math.max(
      keywords.values === undefined && inside.length > 0 ? 1 + deepest(inside) : 0,
      typeof schema.$ref === 'string' ? referenceHeight(schema.$ref, tools) : 0,
      Array.isArray(schema.allOf) ? deepest(schema.allOf) : 0,
      shallowest(schema.anyOf),
      shallowest(schema.oneOf),
    );
  });
}

function referenceHeight(reference: string, tools: Measure & { readonly open: Set<string> }): number {
  if (tools.open.has(reference)) return Number.POSITIVE_INFINITY;
  tools.open.add(reference);
  try {
    return measure(resolveReference(tools.root, reference, tools.budget), tools);
  } finally {
    tools.open.delete(reference);
  }
}
