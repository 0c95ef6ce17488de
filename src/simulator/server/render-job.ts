/** A render job kept in memory with its progress, samples and files. */
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { map, mergeMap, type Observable, of, type Subscription, toArray } from 'rxjs';
import { firstLine } from '../../errors.ts';
import { wavHeader } from '../../music/wav.ts';
import { Backpressure } from '../../ports/backpressure.ts';
import {
  type RenderCall,
  RenderError,
  type RenderEvent,
  type RenderOutput,
} from '../../ports/engines/render.ts';
import { usualLayout } from '../renders/music.ts';

interface Kept {
  readonly type: 'kept';
  readonly output: RenderOutput;
  readonly bytes: Buffer;
}

type JobEvent = Exclude<RenderEvent, RenderOutput> | Kept;

export class RenderJob {
  readonly id: string;
  readonly call: RenderCall;
  readonly outputs: Kept[] = [];
  status: 'queued' | 'in_progress' | 'completed' | 'failed' | 'cancelled' = 'queued';
  readonly #created = Math.floor(Date.now() / 1000);
  readonly #subscription: Subscription;
  /** By song. */
  readonly #samples: Buffer[][] = [];
  readonly #listeners = new Set<() => void>();
  #done = 0;
  #failure: { readonly code: string; readonly message: string } | undefined;

  constructor(call: RenderCall, events: Observable<RenderEvent>) {
    this.id = `${call.type}_${randomBytes(12).toString('hex')}`;
    this.call = call;
    this.#subscription = events.pipe(mergeMap(kept, 1)).subscribe({
      next: (event) => this.#take(event),
      error: (error: unknown) => this.#end('failed', error),
      complete: () => this.#end('completed'),
    });
  }

  get isOpen(): boolean {
    return this.status === 'queued' || this.status === 'in_progress';
  }

  cancel(): void {
    this.#subscription.unsubscribe();
    this.#end('cancelled');
  }

  record(): Readonly<Record<string, unknown>> {
    const { call, status } = this;
    const [first] = this.outputs;
    return {
      id: this.id,
      object: call.type,
      status,
      progress: status === 'completed' ? 100 : Math.floor(this.#done * 100),
      created_at: this.#created,
      seconds: String(call.seconds),
      ...(call.type === 'video' ? { size: `${call.width}x${call.height}` } : {}),
      error: this.#failure ?? null,
      ...(status !== 'completed' || first === undefined ? {} : this.#results(first.output)),
    };
  }

  /** The song as it grows, as fast as the listener takes it. */
  stream(index: number, response: ServerResponse): void {
    const { sampleRate, channels } = usualLayout;
    const dataBytes = this.call.seconds * sampleRate * channels * 2;
    response.writeHead(200, { 'content-type': 'audio/wav' });
    response.write(wavHeader({ sampleRate, channels, dataBytes }));
    let next = 0;
    const pump = (): void => {
      const samples = this.#samples[index] ?? [];
      while (next < samples.length && !response.writableNeedDrain) response.write(samples[next++]);
      if (next < samples.length || this.isOpen) return;
      this.#listeners.delete(pump);
      response.end();
    };
    this.#listeners.add(pump);
    response.on('drain', pump);
    response.on('close', () => this.#listeners.delete(pump));
    pump();
  }

  #results({ seconds, width, height }: RenderOutput): object {
    return this.call.type === 'video'
      ? { output: { duration: seconds, width, height } }
      : { outputs: this.outputs.map(({ output }) => ({ index: output.index, duration: output.seconds })) };
  }

  #take(event: JobEvent): void {
    this.status = 'in_progress';
    if (event.type === 'kept') this.outputs.push(event);
    else if (event.type === 'progress') this.#done = event.done;
    else {
      const samples = this.#samples[event.output] ?? [];
      samples.push(Buffer.from(event.bytes));
      this.#samples[event.output] = samples;
    }
    this.#tell();
  }

  #end(status: 'completed' | 'failed' | 'cancelled', error?: unknown): void {
    if (!this.isOpen) return;
    this.status = status;
    if (status === 'failed')
      this.#failure = {
        code: error instanceof RenderError ? error.code : 'render_failed',
        message: error instanceof Error ? firstLine(error.message) : 'The render failed',
      };
    this.#tell();
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

const kept = (event: RenderEvent): Observable<JobEvent> =>
  event.type !== 'output'
    ? of(event)
    : event.bytes(new Backpressure()).pipe(
        toArray(),
        map((pieces): Kept => ({ type: 'kept', output: event, bytes: Buffer.concat(pieces) })),
      );
