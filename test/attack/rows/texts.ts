/** Attacks by long texts: large JSON, prompts that take long to count, schemas that take long to follow. */
import { inLoops } from '../requests.ts';
import type { Row } from '../row.ts';

/** Below the bounds of large JSON: 16 MiB of text, a million values, a quarter of a million strings. */
const values = 900_000;
const strings = 240_000;

/** The members of a chat request, in either order. */
const largeChat = (order: 'model first' | 'model last') => {
  const all = Array.from({ length: values }, (_, at) => (at < strings ? `"${'value'.repeat(5)} ${at}"` : at));
  const model = '"model":"sluice/chat"';
  const rest = `"messages":[{"role":"user","content":"Hello"}],"metadata":{"extra":[${all.join()}]}`;
  return `{${(order === 'model first' ? [model, rest] : [rest, model]).join()}}`;
};

const largeJson: Row = {
  name: 'large-json',
  title: 'JSON of 13 MB with 900,000 values; 4 clients in a loop',
  victim: 'long',
  maxRss: 1024,
  attack: (target) => {
    const body = largeChat('model first');
    return inLoops(target, 4, () => ({ path: '/chat/completions', body }));
  },
};

const lateModel: Row = {
  name: 'late-model',
  title: 'the same JSON with its model at the end; 4 clients in a loop',
  victim: 'long',
  maxRss: 1024,
  attack: (target) => {
    const body = largeChat('model last');
    return inLoops(target, 4, () => ({ path: '/chat/completions', body }));
  },
};

const longCounts: Row = {
  name: 'token-counts',
  title: 'token counts of prompts of 4 MB without a space; 8 clients in a loop',
  victim: 'counted',
  maxRss: 1024,
  attack: (target) => {
    const content = 'abcdefghijklmnopqrstuvwxyz'.repeat(160_000);
    const body = JSON.stringify({ model: 'sluice/chat', messages: [{ role: 'user', content }] });
    return inLoops(target, 8, () => ({ path: '/messages/count_tokens', body }));
  },
};

/** Each is small, and its work grows with the square of its size. */
const bombs: readonly object[] = [
  { enum: Array.from({ length: 6000 }, (_, index) => `value ${index}`) },
  {
    allOf: Array.from({ length: 400 }, (_, at) => ({
      type: 'object',
      properties: { [`p${at}`]: { type: 'string' }, [`q${at}`]: { type: 'integer' } },
    })),
  },
  {
    type: 'array',
    minItems: 2000,
    items: { anyOf: Array.from({ length: 500 }, () => ({ enum: [1, 2, 3] })) },
  },
];

const schemaBombs: Row = {
  name: 'schema-bombs',
  title: 'response formats whose schema grows quadratically on the simulator; 3 clients in a loop',
  victim: 'chat',
  maxRss: 384,
  // Only an admitted request reaches the engine.
  attackerRpm: 600,
  attack: (target) =>
    inLoops(target, 3, (number) => ({
      path: '/chat/completions',
      body: JSON.stringify({
        model: 'sluice/chat',
        messages: [{ role: 'user', content: 'Hello' }],
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'bomb', schema: bombs[number % bombs.length] },
        },
      }),
    })),
};

export const textRows: readonly Row[] = [largeJson, lateModel, longCounts, schemaBombs];
