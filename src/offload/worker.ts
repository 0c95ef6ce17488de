/** Script of a worker thread; libraries are loaded by the first task that needs them. */
import { parentPort } from 'node:worker_threads';
import { ApiError } from '../errors.ts';
import type { Outcome, Task } from './task.ts';

interface Result {
  readonly value: unknown;
  readonly buffers: readonly ArrayBuffer[];
}

const perform = async (task: Task): Promise<Result> => {
  switch (task.type) {
    case 'json': {
      const { parseJson } = await import('./parse-json.ts');
      return parseJson(task.bytes, task.bounds, task.wideKey);
    }
    case 'tokens': {
      const { countTokens } = await import('../tokens/count.ts');
      return { value: countTokens(task.texts, task.tokenizer), buffers: [] };
    }
    case 'cut': {
      const { cutTokens } = await import('../tokens/cut.ts');
      return { value: cutTokens(task.texts, task.tokenizer, task.limit), buffers: [] };
    }
    case 'document': {
      const { documentText } = await import('./document-text.ts');
      const { payload, isBase64, filename, bounds } = task;
      const source = isBase64 ? { base64: payload } : payload;
      return { value: await documentText(source, filename, bounds), buffers: [] };
    }
    case 'encoding': {
      const { detectEncoding } = await import('./detect-encoding.ts');
      return { value: detectEncoding(Buffer.from(task.sample), task.wide), buffers: [] };
    }
    case 'split': {
      const [{ splitText }, { tokenCounter }] = await Promise.all([
        import('../tokens/split.ts'),
        import('../tokens/count.ts'),
      ]);
      const value = splitText(task.window, task.rules, tokenCounter(task.tokenizer));
      return { value, buffers: [] };
    }
  }
};

const outcomeOf = (reason: unknown): Outcome => {
  if (reason instanceof ApiError) return { type: 'refused', kind: reason.kind, message: reason.message };
  if (reason instanceof SyntaxError) return { type: 'syntax', message: reason.message };
  return { type: 'failed', error: reason instanceof Error ? reason : new Error(String(reason)) };
};

if (parentPort === null) throw new Error('This script runs as a worker thread only');
const main = parentPort;
main.on('message', async (task: Task) => {
  try {
    const { value, buffers } = await perform(task);
    main.postMessage({ type: 'done', value } satisfies Outcome, buffers);
  } catch (reason) {
    main.postMessage(outcomeOf(reason));
  }
});
