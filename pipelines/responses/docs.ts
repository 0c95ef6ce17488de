/** The responses route in words and schemas, for the OpenAPI document. */
import { json, type RouteDoc } from '../../schemas/openapi.ts';
import { Response, ResponseEvent, ResponsesRequest } from '../../schemas/responses.ts';

export const responsesDocs = {
  create: {
    tag: 'Responses',
    summary: 'A response: whole, or as events while it is generated; nothing is stored',
    body: json(ResponsesRequest),
    answer: { ...json(Response), 'text/event-stream': ResponseEvent },
    errors: [400, 404, 413, 429, 502, 503, 504],
  },
} as const satisfies Record<string, RouteDoc>;
