/** Serves the job routes for videos and songs: create, poll, download, stream, delete. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { of } from 'rxjs';
import { fail } from '../../errors.ts';
import { Backpressure } from '../../ports/backpressure.ts';
import type { RenderCall } from '../../ports/engines/render.ts';
import { simulateMusic } from '../renders/music.ts';
import { type RenderStudio, simulateVideo } from '../renders/video.ts';
import { checkModel, type SimulatorServerOptions } from './options.ts';
import { readRender } from './read-render.ts';
import { RenderJob } from './render-job.ts';
import { sendJson } from './responses.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

export interface Route {
  readonly method: string;
  readonly run: Handler;
}

/** Jobs with their files are kept in memory. */
const mostJobs = 64;
const address = /^\/v1\/(videos|music)(?:\/((?:video|music)_[0-9a-f]{24})(?:\/(content|stream))?)?$/;

export const createRenderRoutes = (studio: RenderStudio, options: SimulatorServerOptions) => {
  const jobs = new Map<string, RenderJob>();

  const find = (id: string): RenderJob => {
    const job = jobs.get(id);
    if (job === undefined) throw fail('not_found', 'There is no such job');
    return job;
  };

  /** Evicts the oldest finished job. */
  const makeRoom = (): void => {
    if (jobs.size < mostJobs) return;
    const ended = [...jobs.values()].find((job) => !job.isOpen);
    if (ended === undefined) throw fail('unavailable', 'Too many jobs');
    jobs.delete(ended.id);
  };

  const create =
    (type: RenderCall['type']): Handler =>
    async (request, response) => {
      const { model, call, firstFrame, body } = await readRender(request, type);
      options.onRequest?.({ body, headers: request.headers });
      checkModel(model, options);
      makeRoom();
      const events =
        call.type === 'video'
          ? simulateVideo(studio, {}, call, { input: () => of(firstFrame ?? Buffer.alloc(0)) })
          : simulateMusic(studio, {}, call, { backpressure: new Backpressure() });
      const job = new RenderJob(call, events);
      jobs.set(job.id, job);
      sendJson(response, JSON.stringify({ ...job.record(), model }));
    };

  const sendContent = (job: RenderJob, index: number, response: ServerResponse): void => {
    if (job.isOpen) throw fail('conflict', 'The job is not finished');
    const found = job.outputs.find(({ output }) => output.index === index);
    if (found === undefined) throw fail('not_found', 'There is no such output');
    const { output, bytes } = found;
    response.writeHead(200, { 'content-type': output.mediaType, 'content-length': String(bytes.length) });
    response.end(bytes);
  };

  /** What is left to say of the job. */
  const remove = (job: RenderJob): object => {
    const wasOpen = job.isOpen;
    job.cancel();
    jobs.delete(job.id);
    return wasOpen ? job.record() : { id: job.id, object: `${job.call.type}.deleted`, deleted: true };
  };

  return {
    /** Undefined for what is no address of ours. */
    route(method: string, path: string): Route | undefined {
      const [, collection, id, part] = address.exec(path) ?? [];
      if (collection === undefined) return undefined;
      if (id === undefined)
        return { method: 'POST', run: create(collection === 'videos' ? 'video' : 'music') };
      const isDelete = part === undefined && method === 'DELETE';
      const run: Handler = (request, response) => {
        const job = find(id);
        if (part === 'content') sendContent(job, indexOf(request), response);
        else if (part === 'stream') job.stream(indexOf(request), response);
        else sendJson(response, JSON.stringify(isDelete ? remove(job) : job.record()));
      };
      return { method: isDelete ? method : 'GET', run };
    },

    close(): void {
      for (const job of jobs.values()) job.cancel();
    },
  };
};

const indexOf = (request: IncomingMessage): number =>
  Number(new URLSearchParams((request.url ?? '').split('?')[1]).get('index') ?? 0);
