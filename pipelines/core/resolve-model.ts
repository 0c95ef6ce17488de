/** Finds the model that a request names: 404 for an unknown id or a model of another kind. */
import type { ModelKind } from '../../schemas/catalog.ts';
import type { Catalog, ResolvedModel } from '../../src/ports/catalog.ts';
import type { Exchange } from '../../src/ports/exchange.ts';
import { sessionOf } from './session.ts';
import type { Step } from './stage.ts';

/** A validated body and the model it names. */
export interface ResolvedRequest<Body> extends ResolvedModel {
  readonly body: Body;
}

export const resolveModel =
  <Body extends { readonly model?: string }>(
    catalog: Catalog,
    kind: ModelKind | readonly ModelKind[],
  ): Step<Body, ResolvedRequest<Body>, { readonly exchange: Pick<Exchange, 'header' | 'session'> }> =>
  (body, { exchange }) => {
    const { model, variant } = catalog.resolve(body.model, kind);
    if (model.session !== undefined) exchange.session = sessionOf(model.session, body, exchange);
    return { body, model, variant };
  };
