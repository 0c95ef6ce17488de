/** The route of links to files in words and schemas, for the OpenAPI document. */
import Type from 'typebox';
import type { RouteDoc } from '../../schemas/openapi.ts';

const LinkQuery = Type.Object({
  expires: Type.String({ description: 'Unix seconds after which the link is of no use' }),
  signature: Type.String({ description: 'Made with the link; whoever alters the link makes it useless' }),
});

export const blobDocs = {
  link: {
    tag: 'Files',
    summary: 'A file, by the link that was handed out for it; takes Range',
    ranges: true,
    query: LinkQuery,
    answer: { 'application/octet-stream': Type.String({ format: 'binary' }) },
    errors: [404, 503],
  },
} as const satisfies Record<string, RouteDoc>;
