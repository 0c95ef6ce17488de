/** Simulates embeddings with lexical vectors, a few milliseconds of work per tick. */
import { defer, map, type Observable } from 'rxjs';
import type { Model } from '../../../schemas/catalog.ts';
import { cutVector, writeVector } from '../../helpers/vectors.ts';
import type { Embedded, EmbeddingCall, EmbeddingInput, VectorJson } from '../../ports/engines/embedding.ts';
import { loadVocabulary } from '../../tokens/encoding.ts';
import { countTokens } from '../../tokens/simulator.ts';
import { readDirectives } from '../directives.ts';
import { withFaults } from '../faults.ts';
import { inTicks } from '../in-ticks.ts';
import type { Ticker } from '../ticker.ts';
import { embedText, type VectorShape } from './embed-text.ts';

type Capable = Pick<Model, 'capabilities'>;

/** Where the model's row sets none. */
const usualDimensions = 384;

export const simulateEmbeddings = (
  model: Capable,
  call: EmbeddingCall,
  ticker: Ticker,
): Observable<Embedded> =>
  defer(() => {
    const [opening] = call.inputs;
    const line = readDirectives(typeof opening === 'string' ? opening : '', 'input');
    const inputs = typeof opening === 'string' ? [line.rest, ...call.inputs.slice(1)] : call.inputs;
    return inTicks(inputs.length, (index) => embedInput(model, call, textOf(inputs[index] ?? ''))).pipe(
      map(({ first, results }) => ({
        first,
        vectors: results,
        tokens: line.directives.usage === 'off' ? undefined : tokensOf(call.inputs, first, results.length),
      })),
      withFaults(line.directives, ticker),
    );
  });

const embedInput = (model: Capable, { encoding, dimensions }: EmbeddingCall, text: string): VectorJson => {
  const vector = embedText(meant(model, text), shapeOf(model));
  return writeVector(dimensions === undefined ? vector : cutVector(vector, dimensions), encoding);
};

const shapeOf = ({ capabilities }: Capable): VectorShape => ({
  dimensions: capabilities?.embedding?.dimensions ?? usualDimensions,
  nested: capabilities?.embedding?.truncatable ?? false,
});

/** Instructions are no content of the text. */
const meant = ({ capabilities }: Capable, text: string): string => {
  const { query_instruction: instruction, instruction_marker: marker } = capabilities?.embedding ?? {};
  if (instruction !== undefined && text.startsWith(instruction)) return text.slice(instruction.length);
  if (marker === undefined || !text.startsWith(marker)) return text;
  const end = text.indexOf('\n');
  return end < 0 ? text : text.slice(end + 1);
};

const tokensOf = (inputs: readonly EmbeddingInput[], first: number, count: number): number =>
  inputs
    .slice(first, first + count)
    .reduce((total, input) => total + (typeof input === 'string' ? countTokens(input) : input.length), 0);

/** Token ids are read by the vocabulary most clients make them with; an id outside of it is a word of its own. */
const textOf = (input: EmbeddingInput): string => {
  if (typeof input === 'string') return input;
  try {
    return loadVocabulary('cl100k_base').decode(input);
  } catch {
    return input.map((id) => `token${id}`).join(' ');
  }
};
