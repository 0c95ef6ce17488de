/** Builds a running engine from a row of `engines`. */
import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { type Observable, Subscription } from 'rxjs';
import type { EngineRow } from '../../schemas/engines.ts';
import type { Codec } from '../ports/codec.ts';
import type { Engine } from '../ports/engines/engine.ts';
import type { Media } from '../ports/media.ts';
import type { Shared } from '../ports/shared.ts';
import { EngineCalls, type RequestHeaders } from './calls.ts';
import { addressesOf, clusterOf, type DiscoveryOptions } from './discovery/discover.ts';
import { milliseconds } from './duration.ts';
import { rowDefaults } from './effective-row.ts';
import { Deadlines } from './http1/deadlines.ts';
import { chatOverHttp, completeOverHttp } from './operations/chat.ts';
import { decideOverHttp } from './operations/decide.ts';
import { embedOverHttp } from './operations/embed.ts';
import { followLink } from './operations/follow-link.ts';
import { imageOverHttp } from './operations/images.ts';
import { renderOverHttp } from './operations/render.ts';
import { rerankOverHttp } from './operations/rerank.ts';
import { speakOverHttp } from './operations/speech.ts';
import { tokenizeOverHttp } from './operations/tokenize.ts';
import { transcribeOverHttp } from './operations/transcribe.ts';
import { Dispatch } from './pool/dispatch.ts';
import { type ReplicaAddress, replicasFor } from './pool/membership.ts';
import { openPolicy } from './pool/policies/open.ts';
import { type PoolStats, ReplicaPool } from './pool/pool.ts';
import { startProbes } from './pool/probes.ts';
import { Replica } from './pool/replica.ts';
import { breakerRules, type QueueRules, queueRules, retryRules } from './pool/rules.ts';
import type { Wire } from './wire.ts';
import { type Wires, wires } from './wires.ts';

export interface EngineOptions {
  readonly log: Logger;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Those that rows may name; the built-in ones unless given. */
  readonly wires?: Wires;
  /** Calls that may wait while every replica is full, and for how long; the row's unless given. */
  readonly queue?: Partial<QueueRules>;
  /** For links to files elsewhere that engines answer with; absent: those are not followed. */
  readonly media?: Shared<Pick<Media, 'read'>>;
  /** For sound in a format that the engine or we do not take; absent: that is not served. */
  readonly codec?: Shared<Codec>;
  /** How replicas are found where rows name no addresses. */
  readonly discovery?: DiscoveryOptions;
}

export interface EngineStats extends PoolStats {
  /** Bytes of responses that were read and wait for slow readers. */
  readonly heldBytes: number;
  /** Why its replicas cannot be asked for now; undefined: they can, or are listed. */
  readonly discovery: string | undefined;
}

export interface RunningEngine extends Engine {
  health(): 'ok' | 'down';
  stats(): EngineStats;
  /** Known ones stay as they are, new ones start slowly, those that are missing drain. Throws a sentence that names the field. */
  setReplicas(replicas: EngineRow['replicas']): void;
  /** By an operator: the replica at this address gets no more calls, or gets them again. False: there is none. */
  setDrained(url: string, drained: boolean): boolean;
  /** Takes no more calls and lets running ones finish. */
  close(): Promise<void>;
}

/** Throws a plain sentence that names the field when the row cannot work. */
export const createEngine = (name: string, row: EngineRow, options: EngineOptions): RunningEngine => {
  const { wires: known = wires, media, codec } = options;
  const wire = known.get(row.wire);
  if (wire === undefined)
    throw new Error(`engines.${name}.wire must be one of ${[...known.keys()].join(', ')}`);
  const log = options.log.child({ engine: name });
  const headers = requestHeaders(name, row, wire, options.env);
  const { pool, deadlines, setReplicas, discovery, stopFollowing } = createPool(name, row, log, options);
  const calls = new EngineCalls(pool, headers, wire.readError);
  const {
    readError,
    chat,
    completions,
    embeddings,
    decisions,
    rerank,
    images,
    renders,
    speech,
    transcription,
    tokenizer,
  } = wire;
  const setting = { pool, row, headers: headers.json, readError, log };
  const stopProbes = startProbes(row.probe, pool, headers.noBody);

  return {
    ...(chat && { chat: chatOverHttp({ ...setting, wire: chat }) }),
    ...(completions && { complete: completeOverHttp({ ...setting, wire: completions }) }),
    ...(embeddings && { embed: embedOverHttp(embeddings, calls) }),
    ...(decisions && { decide: decideOverHttp(decisions, calls) }),
    ...(tokenizer && row.tokenizer_api && tokenizeOverHttp(tokenizer, calls, row.tokenizer_api)),
    ...(rerank && { rerank: rerankOverHttp(rerank, calls) }),
    ...(images && {
      image: imageOverHttp(images, {
        calls,
        follow: followLink(calls, media),
        fanOut: row.fan_out_n === true,
      }),
    }),
    ...(renders && { render: renderOverHttp(renders, calls) }),
    ...(speech && { speak: speakOverHttp(speech, calls, codec) }),
    ...(transcription && { transcribe: transcribeOverHttp(transcription, calls, codec) }),
    health: () => pool.health(),
    stats: () => ({ ...pool.stats(), heldBytes: deadlines.pendingBytes(), discovery: discovery() }),
    setReplicas,
    setDrained: (url, drained) => pool.setDrained(url, drained),
    close: () => {
      stopProbes();
      stopFollowing();
      return pool.close();
    },
  };
};

const createPool = (name: string, row: EngineRow, log: Logger, options: EngineOptions) => {
  const timeouts = { ...rowDefaults.timeouts, ...row.timeouts };
  const limits = {
    connect: milliseconds(timeouts.connect),
    firstByte: milliseconds(timeouts.first_byte),
    idle: milliseconds(timeouts.idle),
    total: milliseconds(timeouts.total),
  };
  const deadlines = new Deadlines(Math.min(limits.firstByte, limits.idle, limits.total));
  const ca = row.ca_file === undefined ? undefined : readFileSync(row.ca_file, 'utf8');
  const breaker = breakerRules(row.circuit_breaker);
  let created = 0;
  const create = (address: ReplicaAddress, seed: string): Replica =>
    new Replica(address.url, new Dispatch(address, deadlines, { limits, ca }), {
      alias: aliasOf(name, created++),
      seed,
      breaker,
    });
  const pool = new ReplicaPool({
    policy: openPolicy(row),
    concurrency: row.concurrency ?? Number.POSITIVE_INFINITY,
    log,
    retries: retryRules(row.retries),
    ...(row.slow_start !== undefined && { slowStartMs: milliseconds(row.slow_start) }),
    ...queueRules(row.queue),
    ...options.queue,
  });
  let following = Subscription.EMPTY;
  let problem: string | undefined;
  const setReplicas = (replicas: EngineRow['replicas']): void => {
    const addresses = replicaAddresses(name, replicas, options, (next) => {
      problem = next;
    });
    following.unsubscribe();
    problem = undefined;
    following = addresses.subscribe((next) => pool.setReplicas(replicasFor(next, pool.replicas, create)));
  };
  setReplicas(row.replicas);
  return {
    ...{ pool, deadlines, setReplicas, discovery: () => problem },
    stopFollowing: () => following.unsubscribe(),
  };
};

/** Throws a plain sentence that names the field when they cannot be used. */
export const replicaAddresses = (
  engine: string,
  replicas: EngineRow['replicas'],
  { log, env, discovery }: EngineOptions,
  report: (problem: string | undefined) => void = () => undefined,
): Observable<readonly ReplicaAddress[]> => {
  try {
    const options = { cluster: clusterOf(env), ...discovery };
    return addressesOf(replicas, options, log.child({ engine }), report);
  } catch (error) {
    const says = (error as Error).message;
    throw new Error(`engines.${engine}.replicas${says.startsWith('[') ? '' : ' '}${says}`);
  }
};

/** Fit for a header and a log line, whatever the row is called. */
const aliasOf = (name: string, index: number): string =>
  `${name.replace(/[^\w.-]/g, '_').slice(0, 64)}/${index}`;

/** Written by HTTP itself, never by a row. */
const reserved = /^(host|content-length|transfer-encoding|connection|keep-alive|upgrade|expect|te)$/i;

/** A row's own header replaces the wire's. */
const requestHeaders = (
  name: string,
  row: EngineRow,
  wire: Wire,
  env: EngineOptions['env'],
): RequestHeaders => {
  const key = row.key_env === undefined ? undefined : env[row.key_env]?.trim();
  if (row.key_env !== undefined && !key)
    throw new Error(`engines.${name}.key_env: the environment has no ${row.key_env}`);
  const headers = new Map(Object.entries(keyHeaders(row.key_header?.toLowerCase(), key, wire)));
  for (const [header, value] of Object.entries(row.headers ?? {})) {
    if (reserved.test(header)) throw new Error(`engines.${name}.headers: ${header} cannot be set`);
    headers.set(header.toLowerCase(), value);
  }
  const contentType = headers.get('content-type') ?? 'application/json';
  headers.delete('content-type');
  const noBody = [...headers].flat();
  return { json: ['content-type', contentType, ...noBody], noBody };
};

/** In the row's own header, or in the wire's. */
const keyHeaders = (
  header: string | undefined,
  key: string | undefined,
  wire: Wire,
): Readonly<Record<string, string>> => {
  if (header === undefined || key === undefined) return wire.headers(key);
  return { ...wire.headers(undefined), [header]: header === 'authorization' ? `Bearer ${key}` : key };
};
