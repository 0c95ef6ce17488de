/** The Offload port: large JSON, token counts and documents on worker threads. */
import { availableParallelism } from 'node:os';
import { fail } from '../errors.ts';
import type { Base64 } from '../ports/media.ts';
import type { Offload, SplitText } from '../ports/offload.ts';
import { ownWork, type Shared } from '../ports/shared.ts';
import type { DocumentBounds } from './document-bounds.ts';
import { endingOf } from './ending.ts';
import type { JsonBounds } from './json-scan.ts';
import { Pool, type PoolJob, type PoolOptions } from './pool.ts';
import { type ProcessLimits, WorkerFailure } from './pool-worker.ts';
import type { DocumentTask, Outcome, Task } from './task.ts';
import { WorkerProcess } from './worker-process.ts';

export interface OffloadOptions extends Partial<PoolOptions> {
  readonly json?: Partial<JsonBounds>;
  readonly documents?: Partial<DocumentBounds>;
  /** Milliseconds that each kind of task may run. */
  readonly timeouts?: Partial<Record<Task['type'], number>>;
  /** Characters that may be counted at once. */
  readonly maxCounted?: number;
}

/** The payload of a document is sent beside it. */
type SentTask = Exclude<Task, DocumentTask> | Omit<DocumentTask, 'payload'>;

const mebibyte = 1024 * 1024;

const jsonBounds: JsonBounds = {
  maxText: 16 * mebibyte,
  maxValues: 1_000_000,
  // 16,384 messages of one text part each, the most that a chat may have, and their tools.
  maxMembers: 150_000,
  maxStrings: 250_000,
  maxDepth: 256,
};
const documentBounds: DocumentBounds = {
  maxPages: 5000,
  maxExpanded: 64 * mebibyte,
  maxCharacters: 8 * mebibyte,
  maxDepth: 5000,
};
const timeouts: Record<Task['type'], number> = {
  json: 30_000,
  tokens: 30_000,
  cut: 30_000,
  document: 60_000,
  encoding: 30_000,
  split: 60_000,
};
const maxCounted = 16 * mebibyte;

/** A document may take processor time and memory by its size: a small one that takes more is made to. */
const documentLimits = (bytes: number): ProcessLimits => ({
  cpuMs: 10_000 + (1_000 * bytes) / mebibyte,
  growth: Math.min(1024 * mebibyte, 256 * mebibyte + 8 * bytes),
});

const poolOptions: PoolOptions = {
  entry: new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url),
  workers: Math.min(2, availableParallelism()) + 1,
  maxQueued: 64,
  maxQueuedBytes: 512 * mebibyte,
  maxWait: 30_000,
  idle: 10_000,
  heapMegabytes: 512,
};

/** Documents, strangers' files, are read in processes of their own; the rest on threads. None runs before its first task. */
export const createOffload = (options: OffloadOptions = {}): Offload & Shared<Offload> => {
  const settings = { ...poolOptions, ...options };
  const threads = new Pool(settings);
  const processes = new Pool({ ...settings, start: (worker) => new WorkerProcess(worker) });
  const limits = { ...timeouts, ...options.timeouts };

  const run = async (task: SentTask, job: Omit<PoolJob, 'task'>, signal?: AbortSignal) => {
    try {
      const pool = task.type === 'document' ? processes : threads;
      return resultOf((await pool.run({ ...job, task }, signal)) as Outcome);
    } catch (reason) {
      throw reason instanceof WorkerFailure ? endingOf(task.type, reason, settings.heapMegabytes) : reason;
    }
  };

  const offloadFor = (subscription: string): Offload => {
    const quick = (
      task: Task,
      bytes: number,
      signal?: AbortSignal,
      transfer: readonly ArrayBuffer[] = [],
    ) => {
      return run(task, { subscription, bytes, transfer, timeout: limits[task.type] }, signal);
    };
    return {
      parseJson: async (bytes, signal, wideKey) => {
        const own = owned(bytes);
        const bounds = { ...jsonBounds, ...options.json };
        return quick({ type: 'json', bytes: own, bounds, wideKey }, own.length, signal, [own.buffer]);
      },
      countTokens: async (texts, tokenizer, signal) => {
        const length = boundedLength(texts, options.maxCounted ?? maxCounted);
        return Number(await quick({ type: 'tokens', texts, tokenizer }, length, signal));
      },
      cutTokens: async (texts, tokenizer, limit, signal) => {
        const length = boundedLength(texts, options.maxCounted ?? maxCounted);
        return (await quick({ type: 'cut', texts, tokenizer, limit }, length, signal)) as readonly string[];
      },
      documentText: async (document, filename, { maxCharacters, signal } = {}) => {
        const isBase64 = !(document instanceof Uint8Array);
        const payload = isBase64 ? bytesOf(document.base64) : document;
        const bytes = payload.length;
        const bounds = {
          ...documentBounds,
          ...options.documents,
          ...(maxCharacters !== undefined && { maxCharacters }),
        };
        const job = {
          subscription,
          bytes,
          transfer: [],
          payload,
          timeout: limits.document,
          process: documentLimits(bytes),
        };
        return String(await run({ type: 'document', isBase64, filename, bounds }, job, signal));
      },
      textEncoding: async ({ sample, wide }, signal) => {
        const found = await quick({ type: 'encoding', sample, wide }, sample.length, signal);
        return found as string | undefined;
      },
      splitText: async (window, rules, tokenizer, signal) => {
        const length = boundedLength([window.text], options.maxCounted ?? maxCounted);
        return (await quick({ type: 'split', window, rules, tokenizer }, length, signal)) as SplitText;
      },
      close: async () => {
        await Promise.all([threads.close(), processes.close()]);
      },
    };
  };

  return {
    ...offloadFor(ownWork),
    for: offloadFor,
    stats: () => ({ threads: threads.stats(), documents: processes.stats() }),
  };
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

const bytesOf = (base64: Base64): Uint8Array =>
  typeof base64 === 'string' ? Buffer.from(base64, 'latin1') : base64;
