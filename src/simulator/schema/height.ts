/** Computes the depth of a schema's shallowest instance; infinite for endless recursion. */
import type { Budget } from './budget.ts';
import { isObject, readKeywords } from './keywords.ts';
import { resolveReference } from './reference.ts';

interface Measure {
  readonly root: unknown;
  readonly budget: Budget;
}

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
    const keywords = readKeywords(schema);
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
    return measure(resolveReference(tools.root, reference), tools);
  } finally {
    tools.open.delete(reference);
  }
}
