/** `/budgets`: dollars that may be spent, and what of them is left. */
import { AdminBudget, AdminBudgetList, DeletedBudget } from '../../../schemas/admin/budgets.ts';
import { ifMatch, PageQuery } from '../../../schemas/admin/page.ts';
import { BudgetChanges, type BudgetRecord, NewBudget } from '../../../schemas/budgets.ts';
import { json } from '../../../schemas/openapi.ts';
import { pageOf } from '../page.ts';
import { type AdminAnswer, type AdminParts, type AdminRoute, route } from '../route.ts';

const tag = 'Budgets';

const shown = async (
  { budgetStatus }: AdminParts,
  budgets: readonly BudgetRecord[],
): Promise<readonly AdminBudget[]> =>
  (await budgetStatus(budgets)).map((budget) => ({ object: 'budget', ...budget }));

const answer = async (parts: AdminParts, record: BudgetRecord, status = 200): Promise<AdminAnswer> => {
  const [value] = await shown(parts, [record]);
  return { value, record, status };
};

export const budgets: readonly AdminRoute[] = [
  route({
    method: 'GET',
    path: '/budgets',
    doc: {
      tag,
      summary: 'Budgets, with what is used, reserved by calls that run, and left',
      query: PageQuery({}),
      response: json(AdminBudgetList),
      errors: [400, 503],
    },
    run: async ({ parts, manage, query }) => {
      const page = pageOf(await manage.budgets.list(), query);
      return { value: { ...page, data: await shown(parts, page.data) } };
    },
  }),
  route({
    method: 'POST',
    path: '/budgets',
    body: NewBudget,
    doc: {
      tag,
      summary: 'A new one, for a subscription, a key or the keys with a tag',
      status: 201,
      response: json(AdminBudget),
      errors: [400, 404, 413, 503],
    },
    run: async ({ parts, manage, body }) => answer(parts, await manage.budgets.create(body), 201),
  }),
  route({
    method: 'GET',
    path: '/budgets/{id}',
    doc: { tag, summary: 'One budget', response: json(AdminBudget), errors: [404, 503] },
    run: async ({ parts, manage, params }) => answer(parts, await manage.budgets.get(params.id ?? '')),
  }),
  route({
    method: 'PATCH',
    path: '/budgets/{id}',
    body: BudgetChanges,
    doc: {
      tag,
      summary: 'Changes it; what was spent in its period stays',
      headers: ifMatch,
      response: json(AdminBudget),
      errors: [400, 404, 409, 412, 413, 503],
    },
    run: async ({ parts, manage, params, body, expect }) =>
      answer(parts, await manage.budgets.update(params.id ?? '', body, expect)),
  }),
  route({
    method: 'DELETE',
    path: '/budgets/{id}',
    doc: {
      tag,
      summary: 'Removes it',
      headers: ifMatch,
      response: json(DeletedBudget),
      errors: [404, 409, 412, 503],
    },
    run: async ({ manage, params, expect }) => {
      const { id } = await manage.budgets.remove(params.id ?? '', expect);
      return { value: { id, object: 'budget', deleted: true } };
    },
  }),
];
