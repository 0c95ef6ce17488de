/** Serves the job routes for videos and songs: create, poll, download, stream, delete. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { of } from 'rxjs';
import { fail } from '../../errors.ts';
import { Backpressure } from '../../ports/backpressure.ts';
import type { RenderCall } from '../../ports/render.ts';
import { simulateMusic } from '../renders/music.ts';
import { type RenderStudio, simulateVideo } from '../renders/video.ts';
import { checkModel, type SimulatorServerOptions } from './options.ts';
import { readRender } from './read-render.ts';
import { RenderJob } from './render-job.ts';
import { sendJson } from './responses.ts';

interface RenderRoute {
  readonly method: string;
  readonly run: (
    service: unknown,
    request: IncomingMessage,
    response: ServerResponse,
  ) => Promise<void> | void;
}

/** Jobs with their files are kept in memory. */
const mostJobs = 64;
const address = /^\/v1\/(videos|music)(?:\/((?:video|music)_[0-9a-f]{24})(?:\/(content|stream))?)?$/;

export class RenderRoutes {
  readonly #studio: RenderStudio;
  readonly #options: SimulatorServerOptions;
  readonly #jobs = new Map<string, RenderJob>();

  constructor(studio: RenderStudio, options: SimulatorServerOptions) {
    this.#studio = studio;
    this.#options = options;
  }

  /** Undefined for what is no address of ours. */
  route(method: string, path: string): RenderRoute | undefined {
    const [, collection, id, part] = address.exec(path) ?? [];
    if (collection === undefined) return undefined;
    const type = collection === 'videos' ? 'video' : 'music';
    if (id === undefined)
      return { method: 'POST', run: (_, request, response) => this.#create(type, request, response) };
    if (part === 'content')
      return { method: 'GET', run: (_, request, response) => this.#content(id, request, response) };
    if (part === 'stream')
      return {
        method: 'GET',
        run: (_, request, response) => this.#find(id).stream(indexOf(request), response),
      };
    return method === 'DELETE'
      ? { method, run: (_, __, response) => this.#remove(id, response) }
      : {
          method: 'GET',
          run: (_, __, response) => sendJson(response, JSON.stringify(this.#find(id).record())),
        };
  }

  close(): void {
    for (const job of this.#jobs.values()) job.cancel();
  }

  async #create(type: RenderCall['type'], request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { model, call, firstFrame, body } = await readRender(request, type);
    this.#options.onRequest?.({ body, headers: request.headers });
    checkModel(model, this.#options);
    this.#makeRoom();
    const events =
      call.type === 'video'
        ? simulateVideo(this.#studio, {}, call, { input: () => of(firstFrame ?? Buffer.alloc(0)) })
        : simulateMusic(this.#studio, {}, call, { backpressure: new Backpressure() });
    const job = new RenderJob(call, events);
    this.#jobs.set(job.id, job);
    sendJson(response, JSON.stringify({ ...job.record(), model }));
  }

  #content(id: string, request: IncomingMessage, response: ServerResponse): void {
    const job = this.#find(id);
    if (job.isOpen) throw fail('conflict', 'The job is not finished');
    const found = job.outputs.find(({ output }) => output.index === indexOf(request));
    if (found === undefined) throw fail('not_found', 'There is no such output');
    response.writeHead(200, {
      'content-type': found.output.mediaType,
      'content-length': String(found.bytes.length),
    });
    response.end(found.bytes);
  }

  #remove(id: string, response: ServerResponse): void {
    const job = this.#find(id);
    const wasOpen = job.isOpen;
    job.cancel();
    this.#jobs.delete(id);
    sendJson(
      response,
      JSON.stringify(wasOpen ? job.record() : { id, object: `${job.call.type}.deleted`, deleted: true }),
    );
  }

  #find(id: string): RenderJob {
    const job = this.#jobs.get(id);
    if (job === undefined) throw fail('not_found', 'There is no such job');
    return job;
  }

  /** Evicts the oldest finished job. */
  #makeRoom(): void {
    if (this.#jobs.size < mostJobs) return;
    const ended = [...this.#jobs.values()].find((job) => !job.isOpen);
    if (ended === undefined) throw fail('unavailable', 'Too many jobs');
    this.#jobs.delete(ended.id);
  }
}

const indexOf = (request: IncomingMessage): number =>
  Number(new URLSearchParams((request.url ?? '').split('?')[1]).get('index') ?? 0);
