/** A stand-in for vLLM-Omni: its forms, its errors, its job records and its two kinds of speech streams. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lastValueFrom, toArray } from 'rxjs';
import type { Test } from 'tap';
import { Backpressure } from '../../src/ports/backpressure.ts';
import type { Codec } from '../../src/ports/codec.ts';
import { type Form, readBytes, readForm } from '../../src/simulator/server/read-body.ts';

export interface OmniJob {
  readonly id: string;
  readonly fields: Form['fields'];
  readonly files: readonly { readonly field: string; readonly bytes: Buffer }[];
  status: 'queued' | 'in_progress' | 'completed' | 'failed';
  error: { readonly code: number; readonly message: string } | null;
  video: Buffer | undefined;
}

/** Names and behaviour as of version 0.30.0. */
export class VllmOmni {
  readonly jobs = new Map<string, OmniJob>();
  readonly deleted: string[] = [];
  readonly polled: number[] = [];
  /** JSON bodies of speech requests. */
  readonly spoken: Record<string, unknown>[] = [];
  /** What the next jobs fail with. */
  failure: OmniJob['error'] = null;
  url = '';
  readonly #codec: Codec;
  readonly #model: string;

  constructor(codec: Codec, model: string) {
    this.#codec = codec;
    this.#model = model;
  }

  async start(t: Test): Promise<this> {
    const server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => refuse(response, 500, String(error)));
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    t.teardown(() => {
      server.close();
      server.closeAllConnections();
    });
    return this;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await readBytes(request);
    const [, id, part] = /^\/v1\/videos\/([^/]+)(\/content)?$/.exec(request.url ?? '') ?? [];
    if (request.url === '/v1/audio/speech') return this.#speak(JSON.parse(String(bytes)), response);
    if (request.url === '/v1/models')
      return json(response, 200, { object: 'list', data: [{ id: this.#model }] });
    if (request.url === '/v1/videos') return this.#create(request, bytes, response);
    const job = this.jobs.get(id ?? '');
    if (job === undefined) return refuse(response, 404, 'Video not found');
    if (request.method === 'DELETE') return this.#delete(job, response);
    if (part === undefined) return this.#poll(job, response);
    if (job.video === undefined) return refuse(response, 404, 'Generation is still in-progress');
    response.writeHead(200, { 'content-type': 'video/mp4' }).end(job.video);
  }

  /** A form only: of JSON it sees no field. */
  async #create(request: IncomingMessage, bytes: Buffer, response: ServerResponse): Promise<void> {
    const type = request.headers['content-type'] ?? '';
    const form = type.startsWith('multipart/form-data') ? await readForm(bytes, type) : undefined;
    const { fields, files } = form ?? { fields: {} as Form['fields'], files: [] };
    const problem = problemOf(fields, files, this.#model);
    if (problem !== undefined) return refuse(response, 400, problem);
    const job: OmniJob = {
      id: `video_gen_${randomUUID().replaceAll('-', '')}`,
      fields,
      files,
      status: 'queued',
      error: null,
      video: undefined,
    };
    this.jobs.set(job.id, job);
    this.#render(job, this.failure).catch((error: unknown) => {
      Object.assign(job, { status: 'failed', error: { code: 500, message: String(error) } });
    });
    json(response, 200, recordOf(job));
  }

  async #render(job: OmniJob, failure: OmniJob['error']): Promise<void> {
    job.status = 'in_progress';
    const { size = '832x480', seconds = '4', fps = '24', generate_sound: sound } = job.fields;
    const inputs = [`testsrc=s=${size}:r=${fps}:d=${seconds}`];
    if (sound === 'true') inputs.push(`sine=f=440:d=${seconds}`);
    const pieces = this.#codec.convert(
      undefined,
      {
        inputArguments: inputs.flatMap((input) => ['-f', 'lavfi', '-i', input]),
        arguments: [
          '-c:v',
          'libx264',
          '-preset',
          'ultrafast',
          '-pix_fmt',
          'yuv420p',
          '-c:a',
          'aac',
          '-f',
          'mp4',
        ],
        seekableOutput: true,
        maxBytes: 64 * 1024 * 1024,
        timeoutMs: 60_000,
      },
      new Backpressure(),
    );
    const video = Buffer.concat(await lastValueFrom(pieces.pipe(toArray())));
    if (failure === null) Object.assign(job, { status: 'completed', video });
    else Object.assign(job, { status: 'failed', error: failure });
  }

  /** A failed job is reported with the status of its failure. */
  #poll(job: OmniJob, response: ServerResponse): void {
    const status = job.status === 'failed' ? (job.error?.code ?? 500) : 200;
    this.polled.push(status);
    json(response, status, recordOf(job));
  }

  #delete(job: OmniJob, response: ServerResponse): void {
    this.jobs.delete(job.id);
    this.deleted.push(job.id);
    json(response, 200, { id: job.id, deleted: true, object: 'video.deleted' });
  }

  #speak(body: Record<string, unknown>, response: ServerResponse): void {
    this.spoken.push(body);
    const samples = tone();
    const { stream = false, stream_format: format, response_format: container = 'wav' } = body;
    const streams = stream === true || format !== undefined;
    if (typeof body.input !== 'string' || (streams && container !== 'pcm' && container !== 'wav')) {
      refuse(response, 400, 'input must be a string, response_format pcm or wav where it streams');
      return;
    }
    if (!streams || format === 'audio') {
      response.writeHead(200, { 'content-type': 'audio/pcm' }).end(samples);
      return;
    }
    const event = { type: 'speech.audio.delta', audio: samples.toString('base64') };
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.write(`event: speech.audio.delta\ndata: ${JSON.stringify(event)}\n\n`);
    response.end('event: speech.audio.done\ndata: {"type":"speech.audio.done"}\n\n');
  }
}

const problemOf = (fields: Form['fields'], files: OmniJob['files'], model: string): string | undefined => {
  if (fields.prompt === undefined)
    return "[{'type': 'missing', 'loc': ('body', 'prompt'), 'msg': 'Field required', 'input': None}]";
  if (fields.model !== undefined && fields.model !== model)
    return `Model mismatch: request specifies '${fields.model}' but server is running '${model}'.`;
  if (!/^[1-9]\d*$/.test(fields.seconds ?? '4')) return "seconds: String should match pattern '^[1-9]\\d*$'";
  if (!['lossless', 'high', undefined].includes(fields.quality))
    return `quality must be one of ['lossless', 'high'], got '${fields.quality}'`;
  const names = new Set(files.map(({ field }) => field));
  if (names.has('input_references') && names.has('input_reference'))
    return 'Provide input_references alone, without input_reference, image_reference, or video_reference.';
  return undefined;
};

/** Progress is 0 until it is 100. */
const recordOf = ({ id, fields, status, error }: OmniJob): object => ({
  id,
  object: 'video',
  model: fields.model ?? 'omni',
  prompt: fields.prompt,
  status,
  size: fields.size ?? null,
  progress: status === 'completed' ? 100 : 0,
  seconds: fields.seconds ?? '4',
  quality: 'default',
  error,
  media_type: 'video/mp4',
  stage_durations: {},
  peak_memory_mb: 0,
});

const tone = (): Buffer => {
  const samples = Buffer.alloc(48_000);
  for (let at = 0; at < 24_000; at++)
    samples.writeInt16LE(Math.round(9000 * Math.sin((2 * Math.PI * 440 * at) / 24_000)), at * 2);
  return samples;
};

const json = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

const refuse = (response: ServerResponse, status: number, message: string): void =>
  json(response, status, { error: { message, type: 'BadRequestError', param: null, code: status } });
