/** Usage of all subscriptions in the admin API. */
import Type, { type Static } from 'typebox';
import { Nullable, Titled } from '../shapes.ts';
import { UsageQuery, UsageRequestRow, UsageTotalRow } from '../usage.ts';
import { UsageEvent } from '../usage-event.ts';

const { from, to, limit, after } = UsageQuery.properties;

/** What both routes take. */
const filters = {
  subscription: Type.Optional(Type.String({ description: 'Only that of this subscription, by id or name' })),
  key: Type.Optional(Type.String({ maxLength: 512, description: 'Only that of this key, by id' })),
  model: Type.Optional(Type.String({ maxLength: 512, description: 'Only that of this model, by id' })),
  route: Type.Optional(Type.String({ maxLength: 512, description: 'Only that of this route, below `/v1`' })),
  format: Type.Optional(
    Type.Enum(['json', 'csv'], {
      description: '`csv`, or `Accept: text/csv`: all rows, not one page, with a line of names; `json`',
    }),
  ),
};

export const AdminUsageQuery = Type.Object({
  ...{ from, to, limit, after },
  group_by: Type.Optional(
    Type.String({
      description:
        '`hour`, `day`, `month`, `model`, `key`, `route` and `subscription`, with commas between, or `request` for single requests; `day`. `hour` takes at most 31 days',
    }),
  ),
  ...filters,
});

const page = {
  object: Type.Literal('list', { description: '`list`' }),
  from: Type.Integer({ description: 'Unix seconds of the first moment' }),
  to: Type.Integer({ description: 'Unix seconds of the first moment after' }),
  has_more: Type.Boolean({ description: 'There is another page' }),
  links: Type.Object(
    { next: Nullable(Type.String({ description: 'Path and query of the next page; null: there is none' })) },
    { description: 'Other pages' },
  ),
};

export const AdminUsageList = Titled('AdminUsageList', {
  ...page,
  group_by: Type.Array(Type.String(), { description: 'As it was asked for' }),
  data: Type.Array(
    Type.Union([
      Type.Object({
        ...UsageTotalRow.properties,
        hour: Type.Optional(Type.String({ description: 'Its start in universal time: `2026-11-16T21:00Z`' })),
        month: Type.Optional(Type.String({ description: 'Universal time: `2026-11`' })),
        subscription: Type.Optional(Type.String({ description: 'Id' })),
      }),
      Type.Object({ ...UsageRequestRow.properties, subscription: Type.String({ description: 'Id' }) }),
    ]),
    { description: 'Totals in the order of their groups, or requests, the oldest first' },
  ),
});

export const AdminUsageEventsQuery = Type.Object({ ...{ from, to, limit, after }, ...filters });

export const AdminUsageEvent = Titled('AdminUsageEvent', {
  object: Type.Literal('usage.event', { description: '`usage.event`' }),
  ...UsageEvent.properties,
});
export type AdminUsageEvent = Static<typeof AdminUsageEvent>;

export const AdminUsageEventList = Titled('AdminUsageEventList', {
  ...page,
  data: Type.Array(AdminUsageEvent, { description: 'The newest first' }),
});
export type AdminUsageEventList = Static<typeof AdminUsageEventList>;
