/** A checked request in; the same beside the model it names out. 404 for an unknown id or a model of another kind. */
import type { OperatorFunction } from 'rxjs';
import type { ModelKind } from '../../schemas/catalog.ts';
import type { Catalog, ResolvedModel } from '../../src/ports/catalog.ts';
import { type Step, step } from './step.ts';

export interface Asked<Body> extends ResolvedModel {
  readonly body: Body;
}

export const findModel =
  <Body extends { readonly model?: string }>(catalog: Catalog, kind: ModelKind): Step<Body, Asked<Body>> =>
  (body) => {
    const { model, variant } = catalog.resolve(body.model, kind);
    return { body, model, variant };
  };

export const resolveModel = <Body extends { readonly model?: string }>(
  catalog: Catalog,
  kind: ModelKind,
): OperatorFunction<Body, Asked<Body>> => step(findModel<Body>(catalog, kind));
