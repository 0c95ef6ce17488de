/** GET /openapi.json: the route table as an OpenAPI 3.1 document, and what it says of the API as a whole. */
import type { ReplyHeader } from '../../schemas/openapi.ts';
import { jsonTextReply, type Pipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { compose } from '../core/compose.ts';
import type { Route } from '../route.ts';
import { type ApiInfo, openapiDocument } from './openapi-document.ts';

export const openapi = (ports: Ports, table: () => readonly Route[]): Pipeline =>
  compose(documentBytes(ports, table), jsonTextReply);

/** `table` is called at the first request, when it is complete. */
const documentBytes = (ports: Ports, table: () => readonly Route[]): (() => Buffer) => {
  // As bytes: it is long, and text would be encoded again for every response.
  let bytes: Buffer | undefined;
  return () => (bytes ??= Buffer.from(JSON.stringify(openapiDocument(table(), publicApi(ports)))));
};

const description = `One HTTP API in front of hosted models: chat in three formats, embeddings, decisions, rerank, images, speech, transcription, video, music, and vector stores. SDKs for the chat completions, responses and messages formats work with this base URL and a key.

- **Key.** Send \`Authorization: Bearer <key>\` or \`x-api-key: <key>\`; if both are sent, \`Authorization\` wins. The model lists and this document need none.
- **Subscription.** Usage, limits, jobs, vector stores and the webhook secret belong to the subscription of the key; all its keys share them.
- **Null.** On optional request fields null is the same as leaving the field out.
- **Errors.** A failure has an HTTP status and a JSON body whose message names the field at fault; branch on \`error.metadata.error_type\`. Routes below \`/messages\` have the errors of that format. A stream that fails after its first byte ends with an error event.
- **Retries.** Wait \`Retry-After\` seconds after a 429; start at one or two seconds and double after 502, 503 and 504; retry a 500 once. \`X-Should-Retry: false\` says that a retry cannot help.`;

const tags = {
  Chat: 'Chat completions, whole or streamed, also with context out of a vector store; and text completions.',
  Messages: 'Chat in the messages format, and the count of its tokens.',
  Responses: 'Chat in the responses format, also in the background.',
  Streams: 'Streams that can be read on after a lost connection.',
  Decisions: 'Typed questions, answered as probabilities.',
  Embeddings: 'Texts as vectors.',
  Rerank: 'Documents by their relevance to a query.',
  Tokens: "A model's own tokenizer.",
  Images: 'Images from prompts, edits of images, and what each model takes.',
  Audio: 'Speech from text, text from speech.',
  Videos: 'Jobs that render videos.',
  Music: 'Jobs that render songs, which can be heard meanwhile.',
  Files: 'Links to generated files.',
  'Vector stores': 'Files, split into items and embedded, that can be searched by meaning.',
  Models: 'The models on offer.',
  Usage: 'What the subscription has used, and what it costs.',
  Webhooks: 'The secret that signs calls to your servers.',
  Service: 'The state of the gateway, and this document.',
};

const retryHeaders: Readonly<Record<number, readonly ReplyHeader[]>> = {
  410: ['x-should-retry', 'x-stream-first'],
  416: ['x-should-retry', 'content-range'],
  429: ['retry-after', 'x-should-retry'],
  503: ['retry-after'],
};

const publicApi = (ports: Ports): ApiInfo => ({
  title: 'Sluice',
  description,
  url: ports.publicUrl(),
  server: 'This gateway',
  tags,
  security: {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description: 'An API key after `Bearer `; wins over the other',
    },
    apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'An API key as it is' },
  },
  headers: (status) => [
    'x-request-id',
    'request-id',
    ...(status === 206 ? (['content-range'] as const) : []),
    ...(retryHeaders[status] ?? (status >= 400 && status < 500 ? (['x-should-retry'] as const) : [])),
  ],
});
