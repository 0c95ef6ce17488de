/** Renders a job on its engine and stores the verified outputs, and samples on the way, as blobs. */
import { firstValueFrom, merge, mergeMap, type Observable, throwError, timer, toArray } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { JobOutput, JobRecord } from '../../schemas/jobs.ts';
import { Backpressure } from '../ports/backpressure.ts';
import type { Blobs } from '../ports/blobs.ts';
import type { Engine } from '../ports/engines/engine.ts';
import {
  type RenderCall,
  RenderError,
  type RenderEvent,
  type RenderOutput,
} from '../ports/engines/render.ts';
import { offloaded } from '../ports/offload.ts';
import type { Shared } from '../ports/shared.ts';
import { outputsOf } from './job-record.ts';
import { aborted, keepOutput, type OutputCodec } from './keep-output.ts';
import { SampleWriter } from './sample-store.ts';

interface Production {
  readonly blobs: Blobs;
  readonly codec: Shared<OutputCodec>;
  readonly engine: Engine;
  readonly model: Model;
  readonly job: JobRecord;
  readonly now: () => number;
  /** How long outputs are kept. */
  readonly keptMs: number;
  /** How long a render may take. */
  readonly longestMs: number;
  readonly signal: AbortSignal;
  readonly progress: (done: number) => void;
  readonly sampled: () => void;
  /** The song goes on without what could not be kept for listeners. */
  readonly samplesLost: (error: unknown) => void;
}

/** Files outlive the job by this, for reads in progress; those that a crash leaves behind expire then, too. */
const strayMs = 24 * 3_600_000;

export const produce = async (production: Production): Promise<readonly JobOutput[]> => {
  const { engine, model, job, blobs, signal, longestMs } = production;
  if (engine.render === undefined)
    throw new RenderError('engine_unavailable', `The engine of ${model.id} renders nothing`);
  const backpressure = new Backpressure();
  const samples = new SampleWriter({
    blobs,
    job: job.id,
    attempt: job.attempts,
    now: production.now,
    backpressure,
    written: production.sampled,
  });
  const events = engine.render(model, job.call as RenderCall, {
    jobId: job.id,
    subscription: job.subscription,
    backpressure,
    input: (input, reading) => blobs.read(input.blob, reading),
  });
  try {
    const kept = events.pipe(
      mergeMap((event) => take(event, production, samples)),
      toArray(),
    );
    const outputs = await firstValueFrom(merge(kept, aborted(signal), late(longestMs)));
    checkOutputs(job, outputs);
    await samples.end().catch(production.samplesLost);
    return outputs.sort((a, b) => a.index - b.index);
  } finally {
    samples.drop();
  }
};

const take = (
  event: RenderEvent,
  production: Production,
  samples: SampleWriter,
): Observable<JobOutput> | never[] => {
  if (event.type === 'output') return keep(event, production);
  if (event.type === 'progress') production.progress(event.done);
  else if (production.job.progressive) samples.add(event.output, event.bytes);
  return [];
};

const keep = (output: RenderOutput, production: Production): Observable<JobOutput> => {
  const { codec, blobs, job, now, keptMs } = production;
  // Claimed now: an engine goes on to the next output when nobody wants this one.
  const backpressure = new Backpressure();
  const bytes = output.bytes(backpressure);
  return offloaded((signal) =>
    keepOutput(
      { index: output.index, bytes, backpressure },
      {
        codec: codec.for(job.subscription),
        blobs,
        call: job.call as RenderCall,
        blob: outputName(job, output),
        expiresAt: now() + keptMs + strayMs,
        signal,
      },
    ),
  );
};

/** Contains the attempt: a worker that was believed dead cannot overwrite the outputs of its successor. */
export const outputName = (
  { type, id, attempts }: JobRecord,
  { index }: { readonly index: number },
): string => `${type}/${id}/${attempts}-${index}`;

/** As many as were requested, each once. */
const checkOutputs = (job: JobRecord, outputs: readonly JobOutput[]): void => {
  const wanted = outputsOf(job);
  const given = new Set(outputs.map(({ index }) => index)).size;
  if (given !== wanted || outputs.length !== wanted)
    throw new RenderError('render_failed', `The engine gave ${given} of ${wanted} outputs`);
};

const late = (milliseconds: number): Observable<never> =>
  timer(milliseconds).pipe(
    mergeMap(() => throwError(() => new RenderError('timeout', 'The render took too long'))),
  );
