/** The usage route in words and schemas, for the OpenAPI document. */
import { json, type RouteDoc } from '../../schemas/openapi.ts';
import { UsageList, UsageQuery } from '../../schemas/usage.ts';

export const usageDocs = {
  usage: {
    tag: 'Usage',
    summary: 'What the subscription of the key has used and what it costs, in totals or request by request',
    query: UsageQuery,
    answer: json(UsageList),
    errors: [400, 503],
  },
} as const satisfies Record<string, RouteDoc>;
