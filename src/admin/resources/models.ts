/** `/models` and `/catalog`: the models in service, and reading their file again. */
import { AdminModelList, CatalogReloaded } from '../../../schemas/admin/engines.ts';
import { PageQuery } from '../../../schemas/admin/page.ts';
import { json } from '../../../schemas/openapi.ts';
import { fail } from '../../errors.ts';
import { everySuccess } from '../combine.ts';
import { pageOf } from '../page.ts';
import { type AdminParts, type AdminRoute, route } from '../route.ts';

const tag = 'Models and engines';

const shown = ({ catalog, engines }: AdminParts) => {
  const health = engines.health();
  return catalog
    .inService()
    .map(({ id, kind, engine, private: isPrivate, context_length, pricing, limits }) => ({
      ...{ id, object: 'model', kind, engine, health: health[engine] ?? 'down', private: isPrivate },
      ...{ context_length, pricing, limits },
    }));
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
      return { value: pageOf(shown(parts), query) };
    },
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
