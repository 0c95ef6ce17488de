/** Routes of a model's tokenizer. */
import { detokenizeExamples, tokenizeExamples } from '../../schemas/examples/texts.ts';
import { json } from '../../schemas/openapi.ts';
import {
  DetokenizeRequest,
  DetokenizeResponse,
  TokenizeRequest,
  TokenizeResponse,
} from '../../schemas/tokenize.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admitBeforeBody } from '../core/admit-before-body.ts';
import { callHeaders, generationErrors, type Route } from '../route.ts';
import { tokenKinds } from './read-request.ts';
import { detokenize, tokenize } from './tokenize.ts';

const tag = 'Tokens';
const bodyLimit = 4 * 1024 * 1024;

export const tokenizeRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'POST',
    path: '/tokenize',
    bodyLimit,
    pipeline: admitBeforeBody(ports, tokenKinds, tokenize(ports)),
    doc: {
      tag,
      summary: 'Tokenize a text or a conversation',
      description:
        'Returns the tokens of `prompt`, or of `messages` with the chat template of the model, by the tokenizer of the model itself. 404 where its engine does not offer it. Counts for limits, and is not billed.',
      examples: tokenizeExamples,
      replyHeaders: callHeaders,
      body: json(TokenizeRequest),
      response: json(TokenizeResponse),
      errors: generationErrors,
    },
  },
  {
    method: 'POST',
    path: '/detokenize',
    bodyLimit,
    pipeline: admitBeforeBody(ports, tokenKinds, detokenize(ports)),
    doc: {
      tag,
      summary: 'Turn tokens into text',
      description:
        'The reverse of `POST /tokenize`: the text of a list of tokens. Counts for limits, and is not billed.',
      examples: detokenizeExamples,
      replyHeaders: callHeaders,
      body: json(DetokenizeRequest),
      response: json(DetokenizeResponse),
      errors: generationErrors,
    },
  },
];
