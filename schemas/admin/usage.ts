/** Usage of all subscriptions in the admin API. */
import Type from 'typebox';
import { Nullable, Titled } from '../shapes.ts';
import { UsageQuery, UsageRequestRow, UsageTotalRow } from '../usage.ts';

export const AdminUsageQuery = Type.Object({
  ...UsageQuery.properties,
  group_by: Type.Optional(
    Type.String({
      description:
        '`day`, `model`, `key`, `route` and `subscription`, with commas between, or `request` for single requests; `day`',
    }),
  ),
  subscription: Type.Optional(Type.String({ description: 'Only that of this subscription, by id or name' })),
});

export const AdminUsageList = Titled('AdminUsageList', {
  object: Type.Literal('list'),
  from: Type.Integer({ description: 'Unix seconds' }),
  to: Type.Integer(),
  group_by: Type.Array(Type.String()),
  data: Type.Array(
    Type.Union([
      Type.Object({ ...UsageTotalRow.properties, subscription: Type.Optional(Type.String()) }),
      Type.Object({ ...UsageRequestRow.properties, subscription: Type.String() }),
    ]),
  ),
  has_more: Type.Boolean(),
  links: Type.Object({ next: Nullable(Type.String()) }),
});
