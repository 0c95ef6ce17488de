/** `/models` and `/catalog`: the models in service, and reading their file again. */
import {
  type AdminModel,
  AdminModelDetail,
  AdminModelList,
  CatalogReloaded,
} from '../../../schemas/admin/engines.ts';
import { PageQuery } from '../../../schemas/admin/page.ts';
import type { Model } from '../../../schemas/catalog.ts';
import { json } from '../../../schemas/openapi.ts';
import { fail } from '../../errors.ts';
import { everySuccess } from '../combine.ts';
import { pageOf } from '../page.ts';
import { modelProblems } from '../problems.ts';
import { type AdminParts, type AdminRoute, route } from '../route.ts';

const tag = 'Models and engines';

const shown = (model: Model, isInService: boolean, health: Health): AdminModel => {
  const { id, kind, engine, private: isPrivate, context_length, pricing, limits } = model;
  const own = health[engine];
  return {
    ...{ id, object: 'model', kind, engine, health: own ?? 'down', private: isPrivate },
    ...(context_length === undefined ? {} : { context_length }),
    ...{ pricing, limits, problems: modelProblems(model, { isInService, health: own }) },
  };
};

type Health = Readonly<Record<string, 'ok' | 'down'>>;

const detail = ({ catalog, engines, models }: AdminParts, id: string | undefined): AdminModelDetail => {
  const row = models().find((model) => model.id === id);
  if (row === undefined) throw fail('not_found', `There is no model "${id}"`);
  const in_service = catalog.inService().some((model) => model.id === id);
  return { ...shown(row, in_service, engines.health()), in_service, row };
};

export const models: readonly AdminRoute[] = [
  route({
    method: 'GET',
    path: '/models',
    doc: {
      tag,
      summary: 'Models in service, private ones too, in the order of the catalog',
      query: PageQuery({}),
      response: json(AdminModelList),
      errors: [400],
    },
    run: async ({ parts, query }) => {
      if (!query.has('order')) query.set('order', 'asc');
      const health = parts.engines.health();
      const found = parts.catalog.inService().map((model) => shown(model, true, health));
      return { value: pageOf(found, query) };
    },
  }),
  route({
    method: 'GET',
    path: '/models/{id}',
    doc: {
      tag,
      summary: 'One model, in service or not, with its row of sluice.yaml; a slash of the id is %2F',
      response: json(AdminModelDetail),
      errors: [404],
    },
    run: async ({ parts, params }) => ({ value: detail(parts, params.id) }),
  }),
  route({
    method: 'POST',
    path: '/catalog/reload',
    doc: {
      tag,
      summary: 'Reads sluice.yaml again; 409 says why it was refused, and the former one stays',
      response: json(CatalogReloaded),
      errors: [409],
    },
    run: async ({ parts, audit }) => {
      const refused = parts.reload();
      if (refused !== undefined) throw fail('conflict', `The catalog was refused: ${refused}`);
      await audit.note({ action: 'catalog.reload', target: 'catalog' });
      return { value: { object: 'catalog', models: parts.catalog.inService().length } };
    },
    combine: everySuccess,
  }),
];
