/** A checked decisions request in; the same beside its model out. 404 for an unknown id, 422 for a model of another kind. */
import { map, type OperatorFunction } from 'rxjs';
import type { DecisionsRequest } from '../../schemas/systemone.ts';
import { parseName } from '../../src/catalog/model-names.ts';
import type { Catalog } from '../../src/ports/catalog.ts';
import type { Asked } from '../core/resolve-model.ts';

export const resolveDecisionModel = (
  catalog: Catalog,
): OperatorFunction<DecisionsRequest, Asked<DecisionsRequest>> =>
  map((body) => {
    const { model, variant } = catalog.resolve(fullId(catalog, body.model), 'decision', 'unprocessable');
    return { body, model, variant };
  });

/** Some clients leave the author's part out: where one public model is meant by the rest, it is that one. */
const fullId = (catalog: Catalog, id: string): string => {
  if (id.includes('/') || catalog.find(id) !== undefined) return id;
  const { name } = parseName(id);
  const [meant, ...others] = catalog
    .inService()
    .filter((model) => !model.private && model.id.slice(model.id.indexOf('/') + 1) === name);
  return meant === undefined || others.length > 0 ? id : meant.id;
};
