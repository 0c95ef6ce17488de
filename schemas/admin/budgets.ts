/** Budgets in the admin API. */
import Type, { type Static } from 'typebox';
import { BudgetRecord, BudgetStatus } from '../budgets.ts';
import { deletedFields, listFields, Titled } from '../shapes.ts';

export const AdminBudget = Titled('AdminBudget', {
  object: Type.Literal('budget'),
  ...BudgetRecord.properties,
  ...BudgetStatus.properties,
});
export type AdminBudget = Static<typeof AdminBudget>;
export const AdminBudgetList = Titled('AdminBudgetList', listFields(AdminBudget));

export const DeletedBudget = Titled('DeletedBudget', deletedFields('budget'));
