/** Texts for an embedding model in; their vectors out, of unit length and in their order: admitted, billed and counted as an embeddings request is. */
import { map, type Observable, of, reduce } from 'rxjs';
import { fail } from '../../src/errors.ts';
import { floatsOf } from '../../src/ports/embedding.ts';
import type { Caller, Exchange } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { toUnitLength } from '../../src/vectors.ts';
import { admit } from '../core/admit.ts';
import { meterInput } from '../core/meter-input.ts';
import { type CountedEmbedded, callEmbeddings } from '../embeddings/call.ts';
import { fitEmbeddingInputs } from '../embeddings/fit-inputs.ts';
import type { EmbeddingTask } from '../embeddings/read-request.ts';

export type EmbedPorts = Pick<Ports, 'admission' | 'engines' | 'usage' | 'offload'>;

/** On whose behalf, and under which name it is billed. */
export interface Errand {
  readonly exchange: Pick<Exchange, 'id' | 'log' | 'backpressure' | 'trace'>;
  readonly caller: Caller;
  readonly route: string;
}

/** The call asks for base64. */
export const embedTexts = (
  ports: EmbedPorts,
  { exchange, caller, route }: Errand,
  task: EmbeddingTask,
): Observable<readonly Float32Array[]> =>
  of(task).pipe(
    fitEmbeddingInputs(ports.offload), // texts that are too long are cut
    // 429 after waiting its turn
    admit(ports.admission, exchange, caller, (fitted: EmbeddingTask, lease) =>
      // 502 503 504
      callEmbeddings(ports, exchange, caller, fitted).pipe(
        meterInput(ports.usage, { exchange, caller, route, task: fitted, lease }, countOf), // one usage event
        reduce(gather, new Array<Float32Array | undefined>(fitted.call.inputs.length).fill(undefined)),
        map(whole),
      ),
    ),
  );

const countOf = ({ tokens, vectors }: CountedEmbedded) => ({ tokens, inputs: vectors.length });

const gather = (
  all: (Float32Array | undefined)[],
  { first, vectors }: CountedEmbedded,
): (Float32Array | undefined)[] => {
  for (const [at, vector] of vectors.entries()) all[first + at] = toUnitLength(floatsOf(vector));
  return all;
};

const whole = (all: readonly (Float32Array | undefined)[]): readonly Float32Array[] =>
  all.map((vector) => {
    if (vector === undefined) throw fail('engine_unreachable', 'The embedding model left a text out');
    return vector;
  });
