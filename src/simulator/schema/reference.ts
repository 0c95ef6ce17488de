/** Resolves a `$ref` within its schema. */
import { SchemaProblem } from './budget.ts';

/** References within the schema only: `#`, or `#/` and a JSON pointer. */
export function resolveReference(root: unknown, reference: string): unknown {
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
