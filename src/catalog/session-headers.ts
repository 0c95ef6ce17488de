/** The headers by which models of the catalog tell sessions apart. */
import type { Model } from '../../schemas/catalog.ts';
import type { Catalog } from '../ports/catalog.ts';

/** In lower case; found again only when the catalog has changed. */
export const sessionHeaders = (catalog: Pick<Catalog, 'inService'>): (() => readonly string[]) => {
  let known: readonly Model[] | undefined;
  let names: readonly string[] = [];
  return () => {
    const models = catalog.inService();
    if (models !== known) {
      known = models;
      names = [...new Set(models.flatMap(({ session }) => session?.header ?? []))];
    }
    return names;
  };
};
