/** A row of `engines` in, a running engine out: encode → replica pool → dispatch → decode. */
import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import type { EngineRow } from '../../schemas/engines.ts';
import type { Codec } from '../ports/codec.ts';
import type { Engine } from '../ports/engine.ts';
import type { Media } from '../ports/media.ts';
import { ChatAnswer } from './chat-answer.ts';
import { Deadlines } from './deadlines.ts';
import { decideOverHttp } from './decide.ts';
import { Dispatch, type EngineRequest } from './dispatch.ts';
import { milliseconds } from './duration.ts';
import { embedOverHttp } from './embed.ts';
import { fanOut } from './fan-out.ts';
import { followLink } from './follow-link.ts';
import type { EngineCall } from './http-call.ts';
import { imageOverHttp } from './images.ts';
import { type PoolFigures, type PoolOptions, ReplicaPool } from './pool.ts';
import { renderOverHttp } from './render.ts';
import { Replica } from './replica.ts';
import { replicaCalls } from './replica-calls.ts';
import { speakOverHttp } from './speech.ts';
import { transcribeOverHttp } from './transcribe.ts';
import type { SendRequest, Wire } from './wire.ts';
import { openAiWire } from './wires/openai.ts';

export interface EngineOptions {
  readonly log: Logger;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Calls that may wait while every replica is full, and for how long; the pool's own numbers unless given. */
  readonly line?: Pick<PoolOptions, 'lineLength' | 'waitMs'>;
  /** For links to files elsewhere that engines answer with; absent: those are not followed. */
  readonly media?: Pick<Media, 'read'>;
  /** For sound in a format that the engine or we do not take; absent: that is not served. */
  readonly codec?: Codec;
}

export interface EngineStats extends PoolFigures {
  /** Bytes of answers that were read and wait for slow readers. */
  readonly heldBytes: number;
}

export interface RunningEngine extends Engine {
  health(): 'ok' | 'down';
  stats(): EngineStats;
  /** Takes no more calls, lets running ones end. */
  close(): Promise<void>;
}

const wires: Readonly<Record<EngineRow['wire'], Wire>> = { openai: openAiWire };

/** Throws a plain sentence that names the field when the row cannot work. */
export const createEngine = (name: string, row: EngineRow, options: EngineOptions): RunningEngine => {
  const wire = wires[row.wire];
  const log = options.log.child({ engine: name });
  const headers = requestHeaders(name, row, options.env);
  const { pool, deadlines } = createPool(name, row, log, options.line);
  const probing = startProbing(row, pool, headers);
  const chatting = { wire, pool, log, row, headers };

  const send: SendRequest = ({ path, body, contentType, streams = false }, flow, reader) =>
    pool.send(
      {
        method: 'POST',
        path,
        headers: [...withContentType(headers, contentType), 'x-request-id', flow.requestId],
        body,
        streams,
        explain: wire.errorSentence,
      },
      flow,
      reader,
    );

  return {
    ...(wire.embeddings === undefined ? {} : { embed: embedOverHttp(wire.embeddings, send) }),
    ...(wire.decisions === undefined ? {} : { decide: decideOverHttp(wire.decisions, send) }),
    ...(wire.images === undefined
      ? {}
      : {
          image: imageOverHttp(wire.images, {
            send,
            follow: followLink({ pool, headers, media: options.media }),
            fanOut: row.fan_out_n === true,
          }),
        }),
    ...(wire.renders === undefined
      ? {}
      : { render: renderOverHttp(wire.renders, replicaCalls(pool, headers, wire.errorSentence)) }),
    ...(wire.speech === undefined ? {} : { speak: speakOverHttp(wire.speech, send, options.codec) }),
    ...(wire.transcription === undefined
      ? {}
      : { transcribe: transcribeOverHttp(wire.transcription, send, options.codec) }),
    chat: (model, call, flow) =>
      call.n > 1 && row.fan_out_n === true
        ? fanOut(call, flow, (single, itsFlow) => new ChatAnswer(chatting, model, single, itsFlow))
        : new ChatAnswer(chatting, model, call, flow),
    health: () => pool.health(),
    stats: () => ({ ...pool.stats(), heldBytes: deadlines.held() }),
    close: () => {
      probing.stop();
      return pool.close();
    },
  };
};

const createPool = (
  name: string,
  row: EngineRow,
  log: Logger,
  line: EngineOptions['line'],
): { readonly pool: ReplicaPool; readonly deadlines: Deadlines } => {
  const timeouts = row.timeouts ?? {};
  const limits = {
    connect: milliseconds(timeouts.connect ?? '2s'),
    firstByte: milliseconds(timeouts.first_byte ?? '60s'),
    idle: milliseconds(timeouts.idle ?? '30s'),
    total: milliseconds(timeouts.total ?? '10m'),
  };
  const deadlines = new Deadlines(Math.min(limits.firstByte, limits.idle, limits.total));
  const ca = row.ca_file === undefined ? undefined : readFileSync(row.ca_file, 'utf8');
  const replicas = row.replicas.map((url, index) => {
    if (!URL.canParse(url)) throw new Error(`engines.${name}.replicas[${index}] is no address: ${url}`);
    return new Replica(url, new Dispatch(url, deadlines, { limits, ca }));
  });
  const concurrency = row.concurrency ?? Number.POSITIVE_INFINITY;
  return { pool: new ReplicaPool({ replicas, concurrency, log, ...line }), deadlines };
};

/** Written by HTTP itself, never by a row. */
const reserved = /^(host|content-length|transfer-encoding|connection|keep-alive|upgrade|expect|te)$/i;

/** Names and values by turns; a row's own header takes the place of ours. */
const requestHeaders = (name: string, row: EngineRow, env: EngineOptions['env']): string[] => {
  const headers = new Map([['content-type', 'application/json']]);
  if (row.key_env !== undefined) {
    const key = env[row.key_env]?.trim();
    if (!key) throw new Error(`engines.${name}.key_env: the environment has no ${row.key_env}`);
    headers.set('authorization', `Bearer ${key}`);
  }
  for (const [header, value] of Object.entries(row.headers ?? {})) {
    if (reserved.test(header)) throw new Error(`engines.${name}.headers: ${header} cannot be set`);
    headers.set(header.toLowerCase(), value);
  }
  return [...headers].flat();
};

/** Ours comes first among the headers, and only a form takes its place. */
const withContentType = (headers: string[], contentType: string | undefined): readonly string[] =>
  contentType === undefined ? headers : ['content-type', contentType, ...headers.slice(2)];

const startProbing = (row: EngineRow, pool: ReplicaPool, headers: string[]): { stop(): void } => {
  if (row.probe === undefined) return { stop: () => undefined };
  const request: EngineRequest = {
    method: 'GET',
    path: row.probe.path,
    fromRoot: true,
    headers,
    body: null,
    streams: true,
    explain: () => undefined,
  };
  let running: readonly EngineCall[] = [];
  const end = (): void => {
    for (const call of running) call.close();
  };
  const timer = setInterval(
    () => {
      end();
      running = pool.probe(request);
    },
    milliseconds(row.probe.interval ?? '10s'),
  ).unref();
  return {
    stop: () => {
      clearInterval(timer);
      end();
    },
  };
};
