/** A kind of model and what its entries say in; the route that lists the served models of that kind whose capability spec can be kept to out. */
import { defer, of } from 'rxjs';
import type { Model, ModelKind } from '../../schemas/catalog.ts';
import { jsonReply, type Pipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';

export const specifiedModels =
  <Spec, Entry>(
    kind: ModelKind,
    specOf: (model: Model) => Spec | undefined,
    entryOf: (model: Model, spec: Spec) => Entry,
  ) =>
  (ports: Pick<Ports, 'catalog'>): Pipeline =>
  () =>
    defer(() => {
      const data = ports.catalog
        .list() // 502 503
        .flatMap((model): readonly Entry[] => {
          const spec = model.kind === kind ? specOf(model) : undefined;
          return spec === undefined ? [] : [entryOf(model, spec)];
        });
      return of(jsonReply({ data }));
    });
