/** `/openapi.json`: the route table of the admin API as an OpenAPI 3.1 document. */
import Type from 'typebox';
import { openapiDocument } from '../../../pipelines/account/openapi-document.ts';
import { json } from '../../../schemas/openapi.ts';
import { type AdminRoute, route } from '../route.ts';

/** `table` is called at a request, when it is complete. */
export const openapi = (table: () => readonly AdminRoute[]): readonly AdminRoute[] => [
  route({
    method: 'GET',
    path: '/openapi.json',
    access: 'public',
    doc: {
      tag: 'Service',
      summary: 'This document',
      response: json(Type.Object({}, { description: 'OpenAPI 3.1' })),
    },
    run: async () => ({
      value: openapiDocument(table(), {
        title: 'Sluice admin API',
        url: '/admin/v1',
        security: { bearer: { type: 'http', scheme: 'bearer' } },
      }),
    }),
  }),
];
