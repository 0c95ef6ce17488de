/** Routes of a model's tokenizer. */
import { json } from '../../schemas/openapi.ts';
import {
  DetokenizeRequest,
  DetokenizeResponse,
  TokenizeRequest,
  TokenizeResponse,
} from '../../schemas/tokenize.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admitBeforeBody } from '../core/admit-before-body.ts';
import { generationErrors, type Route } from '../route.ts';
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
      summary: 'The tokens of a text or conversation, by the model’s own tokenizer',
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
      summary: 'The text of tokens',
      body: json(DetokenizeRequest),
      response: json(DetokenizeResponse),
      errors: generationErrors,
    },
  },
];
