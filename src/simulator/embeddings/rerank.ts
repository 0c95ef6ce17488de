/** Simulates a reranker: a document is as relevant as it has the words of the query. */
import { defer, map, type Observable } from 'rxjs';
import type { RerankCall, Reranked } from '../../ports/engines/rerank.ts';
import { countTokens } from '../../tokens/simulator.ts';
import { readDirectives } from '../directives.ts';
import { withFaults } from '../faults.ts';
import { inTicks } from '../in-ticks.ts';
import type { Ticker } from '../ticker.ts';
import { embedText, type VectorShape } from './embed-text.ts';
import { tellingStems } from './lexicon.ts';

const shape: VectorShape = { dimensions: 1024, nested: false };
/** The rest is how alike the texts are as a whole, which decides between documents with the same words. */
const wordShare = 0.7;

export const simulateRerank = (call: RerankCall, ticker: Ticker): Observable<Reranked> =>
  defer(() => {
    const { directives, rest: query } = readDirectives(call.query, 'query');
    const stems = new Set(tellingStems(query));
    const vector = embedText(query, shape);
    const queryTokens = countTokens(call.query);
    const score = (index: number): number => {
      const document = call.documents[index] ?? '';
      const found = stems.size === 0 ? 0 : shared(stems, document) / stems.size;
      return wordShare * found + (1 - wordShare) * Math.max(0, likeness(vector, embedText(document, shape)));
    };
    return inTicks(call.documents.length, score).pipe(
      map(({ first, results }) => ({
        first,
        scores: results,
        tokens:
          directives.usage === 'off'
            ? undefined
            : call.documents
                .slice(first, first + results.length)
                .reduce((total, document) => total + queryTokens + countTokens(document), 0),
      })),
      withFaults(directives, ticker),
    );
  });

const shared = (stems: ReadonlySet<string>, document: string): number => {
  const found = new Set(tellingStems(document).filter((stem) => stems.has(stem)));
  return found.size;
};

/** Between unit vectors. */
const likeness = (one: Float32Array, other: Float32Array): number =>
  one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
