/** A checked decisions request in; the same beside its model out. 404 for an unknown id, 422 for a model of another kind. */
import { map, type OperatorFunction } from 'rxjs';
import type { DecisionsRequest } from '../../schemas/systemone.ts';
import type { Catalog } from '../../src/ports/catalog.ts';
import type { Asked } from './resolve-model.ts';

export const resolveDecisionModel = (
  catalog: Catalog,
): OperatorFunction<DecisionsRequest, Asked<DecisionsRequest>> =>
  map((body) => {
    const { model, variant } = catalog.resolve(fullId(catalog, body.model), 'decision', 'unprocessable');
    return { body, model, variant };
  });

/** Some clients leave the author's part out. */
const fullId = (catalog: Catalog, id: string): string =>
  id.includes('/') || catalog.find(id) !== undefined ? id : (catalog.findPublic('', id)?.id ?? id);
