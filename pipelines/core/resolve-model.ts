/** Finds the model that a request names: 404 for an unknown id, a model of another kind, or one that the key may not use. */
import type { ModelKind } from '../../schemas/catalog.ts';
import type { Catalog, ResolvedModel } from '../../src/ports/catalog.ts';
import type { Caller, Exchange } from '../../src/ports/exchange.ts';
import { sessionOf } from './session.ts';
import type { Step } from './stage.ts';

/** A validated body and the model it names. */
export interface ResolvedRequest<Body> extends ResolvedModel {
  readonly body: Body;
}

interface Request {
  readonly exchange: Pick<Exchange, 'header' | 'session'>;
  readonly caller: Caller;
}

export const resolveModel =
  <Body extends { readonly model?: string }>(
    catalog: Catalog,
    kind: ModelKind | readonly ModelKind[],
  ): Step<Body, ResolvedRequest<Body>, Request> =>
  (body, { exchange, caller }) => {
    const { model, variant } = catalog.resolve(body.model, kind, undefined, caller.scope);
    if (model.session !== undefined) exchange.session = sessionOf(model.session, body, exchange);
    return { body, model, variant };
  };
