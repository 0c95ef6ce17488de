/** The Offload port: large JSON, token counts and documents on worker threads. */
import { availableParallelism } from 'node:os';
import { fail } from '../errors.ts';
import type { DocumentSource, Offload, SplitText } from '../ports/offload.ts';
import type { Shared } from '../ports/shared.ts';
import type { DocumentBounds } from './document-bounds.ts';
import { endingOf } from './ending.ts';
import type { JsonBounds } from './json-scan.ts';
import { Pool, type PoolJob, type PoolOptions } from './pool.ts';
import type { Outcome, Task } from './task.ts';
import { ThreadFailure } from './thread.ts';

export interface OffloadOptions extends Partial<PoolOptions> {
  readonly json?: Partial<JsonBounds>;
  readonly documents?: Partial<DocumentBounds>;
  /** Milliseconds that each kind of task may run. */
  readonly timeouts?: Partial<Record<Task['type'], number>>;
  /** Characters that may be counted at once. */
  readonly maxCounted?: number;
}

const mebibyte = 1024 * 1024;

const jsonBounds: JsonBounds = {
  maxText: 16 * mebibyte,
  maxValues: 1_000_000,
  maxMembers: 200_000,
  maxDepth: 256,
};
const documentBounds: DocumentBounds = {
  maxPages: 5000,
  maxExpanded: 64 * mebibyte,
  maxCharacters: 8 * mebibyte,
};
const timeouts: Record<Task['type'], number> = {
  json: 30_000,
  tokens: 30_000,
  cut: 30_000,
  document: 30_000,
  encoding: 30_000,
  split: 60_000,
};
const maxDocumentGrowth = 1024 * mebibyte;
const maxCounted = 16 * mebibyte;

const poolOptions: PoolOptions = {
  entry: new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url),
  threads: Math.min(2, availableParallelism()),
  maxQueued: 64,
  maxQueuedBytes: 512 * mebibyte,
  maxWait: 30_000,
  idle: 30_000,
  heapMegabytes: 512,
};

/** No thread runs before the first task. */
export const createOffload = (options: OffloadOptions = {}): Offload & Shared<Offload> => {
  const settings = { ...poolOptions, ...options };
  const pool = new Pool(settings);
  const limits = { ...timeouts, ...options.timeouts };

  const run = async (task: Task, job: Pick<PoolJob, 'bytes' | 'transfer'>, signal?: AbortSignal) => {
    const slow = task.type === 'document';
    const maxGrowth = slow ? maxDocumentGrowth : Number.POSITIVE_INFINITY;
    try {
      const outcome = await pool.run({ ...job, task, timeout: limits[task.type], slow, maxGrowth }, signal);
      return resultOf(outcome as Outcome);
    } catch (reason) {
      throw reason instanceof ThreadFailure ? endingOf(task.type, reason, settings.heapMegabytes) : reason;
    }
  };

  const offload: Offload = {
    parseJson: async (bytes, signal, wideKey) => {
      const own = owned(bytes);
      const bounds = { ...jsonBounds, ...options.json };
      const task: Task = { type: 'json', bytes: own, bounds, wideKey };
      return run(task, { bytes: own.length, transfer: [own.buffer] }, signal);
    },
    countTokens: async (texts, tokenizer, signal) => {
      const bytes = boundedLength(texts, options.maxCounted ?? maxCounted);
      return Number(await run({ type: 'tokens', texts, tokenizer }, { bytes, transfer: [] }, signal));
    },
    cutTokens: async (texts, tokenizer, limit, signal) => {
      const bytes = boundedLength(texts, options.maxCounted ?? maxCounted);
      const cut = await run({ type: 'cut', texts, tokenizer, limit }, { bytes, transfer: [] }, signal);
      return cut as readonly string[];
    },
    documentText: async (document, filename, { maxCharacters, signal } = {}) => {
      const { source, buffers, bytes } = movable(document);
      const bounds = {
        ...documentBounds,
        ...options.documents,
        ...(maxCharacters !== undefined && { maxCharacters }),
      };
      const task: Task = { type: 'document', source, filename, bounds };
      return String(await run(task, { bytes, transfer: buffers }, signal));
    },
    textEncoding: async ({ sample, wide }, signal) => {
      const task: Task = { type: 'encoding', sample, wide };
      return (await run(task, { bytes: sample.length, transfer: [] }, signal)) as string | undefined;
    },
    splitText: async (window, rules, tokenizer, signal) => {
      const bytes = boundedLength([window.text], options.maxCounted ?? maxCounted);
      const task: Task = { type: 'split', window, rules, tokenizer };
      return (await run(task, { bytes, transfer: [] }, signal)) as SplitText;
    },
    close: () => pool.close(),
  };
  return { ...offload, for: () => offload };
};

const boundedLength = (texts: readonly string[], most: number): number => {
  const length = texts.reduce((total, text) => total + text.length, 0);
  if (length > most) throw fail('payload_too_large', `The text is longer than ${most} characters`);
  return length;
};

const resultOf = (outcome: Outcome): unknown => {
  switch (outcome.type) {
    case 'done':
      return outcome.value;
    case 'refused':
      throw fail(outcome.kind, outcome.message);
    case 'syntax':
      throw new SyntaxError(outcome.message);
    case 'failed':
      throw outcome.error;
  }
};

/** What may be left of a buffer beside the bytes in use: the head of a data URI, before its base64. */
const spare = 1024;

/** Moved to the thread as it is where it fills its buffer; copied where others may see the same buffer. */
const owned = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => {
  const { buffer, byteOffset, byteLength } = bytes;
  return buffer instanceof ArrayBuffer && buffer.byteLength - byteLength < spare
    ? new Uint8Array(buffer, byteOffset, byteLength)
    : new Uint8Array(bytes);
};

const movable = (document: DocumentSource) => {
  if (document instanceof Uint8Array) {
    const source = owned(document);
    return { source, buffers: [source.buffer], bytes: source.length };
  }
  const { base64 } = document;
  if (typeof base64 === 'string') return { source: { base64 }, buffers: [], bytes: base64.length };
  const source = owned(base64);
  return { source: { base64: source }, buffers: [source.buffer], bytes: source.length };
};
