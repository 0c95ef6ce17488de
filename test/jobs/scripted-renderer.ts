/** A render engine that a test controls step by step. */
import { Observable, of } from 'rxjs';
import type { Engine } from '../../src/ports/engines/engine.ts';
import {
  type RenderCall,
  RenderError,
  type RenderErrorCode,
  type RenderEvent,
} from '../../src/ports/engines/render.ts';

/** One render under way. */
export class Render {
  readonly jobId: string;
  readonly call: RenderCall;
  /** Whether the one who asked has left. */
  stopped = false;
  readonly #emit: (event: RenderEvent) => void;
  readonly #finish: () => void;
  readonly #fail: (error: unknown) => void;

  constructor(
    jobId: string,
    call: RenderCall,
    emit: (event: RenderEvent) => void,
    finish: () => void,
    fail: (error: unknown) => void,
  ) {
    this.jobId = jobId;
    this.call = call;
    this.#emit = emit;
    this.#finish = finish;
    this.#fail = fail;
  }

  progress(done: number): void {
    this.#emit({ type: 'progress', done });
  }

  samples(bytes: Uint8Array, output = 0): void {
    this.#emit({ type: 'samples', output, bytes });
  }

  output(content = `bytes of ${this.jobId}`, index = 0): void {
    this.#emit({
      type: 'output',
      index,
      mediaType: this.call.type === 'video' ? 'video/mp4' : 'audio/mpeg',
      seconds: this.call.seconds,
      ...(this.call.type === 'video' ? { width: this.call.width, height: this.call.height } : {}),
      bytes: () => of(Buffer.from(content)),
    });
  }

  /** As many outputs as were asked for, and the end. */
  finish(): void {
    const count = this.call.type === 'music' ? this.call.n : 1;
    for (let index = 0; index < count; index++) this.output(undefined, index);
    this.#finish();
  }

  end(): void {
    this.#finish();
  }

  fail(code: RenderErrorCode, message: string): void {
    this.#fail(new RenderError(code, message));
  }

  crash(error: unknown): void {
    this.#fail(error);
  }
}

export class ScriptedRenderer {
  readonly renders: Render[] = [];
  /** Called for each render when it starts; does nothing by default. */
  script: (render: Render) => void = () => undefined;

  readonly engine: Engine = {
    chat: () => {
      throw new Error('renders only');
    },
    render: (_model, call, { jobId }) =>
      new Observable<RenderEvent>((subscriber) => {
        const render = new Render(
          jobId,
          call,
          (event) => subscriber.next(event),
          () => subscriber.complete(),
          (error) => subscriber.error(error),
        );
        this.renders.push(render);
        this.script(render);
        return () => {
          render.stopped = true;
        };
      }),
  };

  /** The latest render of a job. */
  of(job: string): Render | undefined {
    return this.renders.findLast(({ jobId }) => jobId === job);
  }
}
