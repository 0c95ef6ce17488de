/** What searches found in; one list of items out, best first, with the attributes of their files. */
import type { VectorStoreFileRecord } from '../../schemas/vector-store-records.ts';
import type { FoundItem } from '../ports/vector-stores.ts';
import type { Hit } from '../ports/vectors.ts';

/** Each item once, with its best similarity. */
export const merged = (hits: readonly Hit[], limit: number): readonly Hit[] => {
  const best = new Map<string, Hit>();
  for (const hit of hits) {
    const known = best.get(hit.id);
    if (known === undefined || known.similarity < hit.similarity) best.set(hit.id, hit);
  }
  return [...best.values()].sort((one, other) => other.similarity - one.similarity).slice(0, limit);
};

export const withAttributes = async (
  hits: readonly Hit[],
  attributesOf: (file: string) => Promise<VectorStoreFileRecord['attributes']>,
): Promise<readonly FoundItem[]> => {
  const files = [...new Set(hits.map(({ file }) => file))];
  const found = new Map(
    await Promise.all(files.map(async (file) => [file, await attributesOf(file)] as const)),
  );
  return hits.map((hit) => ({ ...hit, attributes: found.get(hit.file) ?? {} }));
};
