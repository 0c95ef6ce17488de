/** `/audit`: who changed what, and when. */
import { AuditList } from '../../../schemas/admin/audit.ts';
import { ofSubscription, PageQuery } from '../../../schemas/admin/page.ts';
import { json } from '../../../schemas/openapi.ts';
import { auditPage } from '../audit.ts';
import { storedPage } from '../page.ts';
import { type AdminRoute, route } from '../route.ts';

export const audit: readonly AdminRoute[] = [
  route({
    method: 'GET',
    path: '/audit',
    doc: {
      tag: 'Audit',
      summary: 'Changes that were made over this API and by the command line, kept for 400 days',
      query: PageQuery(ofSubscription),
      response: json(AuditList),
      errors: [400, 503],
    },
    run: async ({ parts: { state }, query }) => ({
      value: await storedPage(
        query,
        (page) => auditPage(state, page),
        ({ id, value }) => ({ id, object: 'audit.entry', ...value }),
      ),
    }),
  }),
];
