/** Frames scores as one JSON object, the most relevant document first. */
import type { RerankResponse } from '../../schemas/rerank.ts';
import { jsonReply, type WholeReply } from '../../src/ports/exchange.ts';
import { type Framing, responseKey } from '../core/frame.ts';
import { gather } from '../core/transforms.ts';
import type { CountedReranked } from './count.ts';
import type { RerankTask } from './read-request.ts';

const replyOf = (parts: readonly CountedReranked[], { exchange, task }: Framing<RerankTask>): WholeReply => {
  const { model, documents, results, showsDocuments } = task;
  const tokens = parts.reduce((sum, part) => sum + part.tokens, 0);
  const ranked = parts
    .flatMap(({ first, scores }) => scores.map((score, at) => ({ index: first + at, score })))
    // Equals stay in the order of the request, whatever order they came in.
    .sort((one, other) => other.score - one.score || one.index - other.index)
    .slice(0, results);
  const response: RerankResponse = {
    id: `rerank-${responseKey(exchange)}`,
    object: 'list',
    model: model.id,
    results: ranked.map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(showsDocuments && { document: { text: documents[index] ?? '' } }),
    })),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
    meta: { billed_units: { input_tokens: tokens } },
  };
  return jsonReply(response);
};

export const frameReranked = gather(replyOf);
