/** Checks of what is not a conversation: embeddings, rerank, decisions, tokenizers. */
import assert from 'node:assert/strict';
import type { Bench } from '../check.ts';
import { modelIds } from '../config.ts';
import { readJson } from '../read-json.ts';
import { width } from '../toys/bigram.ts';

/**
 * The toy's vector of a text counts its tokens, mostly bytes: similar spelling, similar vector. Each text has a word that
 * is one token, for the gateway takes a count of tokens that equals the characters for a count of characters.
 */
const [query, similar, different] = [
  'the tide comes two',
  'the tides come two',
  'QUAY 42 ZQXJ nine',
] as const;

export const checkTexts = async ({ check, client, gateway, search, server }: Bench): Promise<void> => {
  const post = <T>(path: string, body: object) =>
    readJson<T>(`${gateway.origin}/v1${path}`, gateway.key, body);
  const { traits } = server;

  await check('embeddings', async () => {
    const body = { model: modelIds.search, input: [query, similar, different] };
    const { data, usage } = await client.embeddings.create(body);
    assert.deepEqual(
      data.map(({ index, embedding }) => [index, embedding.length]),
      [
        [0, width],
        [1, width],
        [2, width],
      ],
    );
    const [one = [], two = [], three = []] = data.map(({ embedding }) => embedding);
    assert.ok(similarity(one, two) > 0.9, `${similarity(one, two)}`);
    assert.ok(similarity(one, three) < 0.5, `${similarity(one, three)}`);
    const theirs = await readJson<{ data: { embedding: number[] }[]; usage: { prompt_tokens: number } }>(
      `${search.origin}/v1/embeddings`,
      search.key,
      { ...body, model: 'search' },
    );
    assert.equal(usage.prompt_tokens, theirs.usage.prompt_tokens);
    const numbers = await client.embeddings.create({ ...body, encoding_format: 'float' });
    for (const [index, { embedding }] of numbers.data.entries()) {
      const own = theirs.data[index]?.embedding ?? [];
      assert.ok(similarity(embedding, own) > 0.9999);
      assert.ok(
        similarity(embedding, data[index]?.embedding ?? []) > 0.9999,
        'base64 and numbers are the same',
      );
    }
  });

  await check('an overlong text is shortened', async () => {
    const { data, usage } = await client.embeddings.create({
      model: modelIds.search,
      input: 'wave '.repeat(3000),
    });
    assert.equal(data[0]?.embedding.length, width);
    assert.ok(usage.prompt_tokens > 0 && usage.prompt_tokens < 15_000, `${usage.prompt_tokens} tokens`);
  });

  if (traits.rerank)
    await check('rerank', async () => {
      const { results, usage } = await post<{
        results: { index: number; relevance_score: number }[];
        usage: { prompt_tokens: number };
      }>('/rerank', { model: modelIds.rerank, query, documents: [different, similar] });
      assert.deepEqual(
        results.map(({ index }) => index),
        [1, 0],
      );
      assert.ok(usage.prompt_tokens > 0);
    });

  if (traits.decisions)
    await check('decisions', async () => {
      const { answers } = await post<{ answers: Record<string, { probabilities: Record<string, number> }> }>(
        '/systemone',
        {
          model: modelIds.decide,
          state: 'The tide is high.',
          questions: {
            team: {
              type: 'choice',
              instructions: 'Who should go?',
              criteria: { harbour: 'boats', road: 'cars' },
            },
          },
        },
      );
      const chances = Object.values(answers.team?.probabilities ?? {});
      assert.equal(chances.length, 2);
      assert.ok(Math.abs(chances.reduce((sum, chance) => sum + chance, 0) - 1) < 1e-6, chances.join(' '));
    });

  if (traits.tokenizer !== undefined)
    await check('tokenizer', async () => {
      const prompt = 'one two [long] ü';
      const { tokens, count } = await post<{ tokens: number[]; count: number }>('/tokenize', {
        model: modelIds.writer,
        prompt,
        add_special_tokens: false,
      });
      // Two words, a blank, a trigger, a blank, two bytes.
      assert.equal(tokens.length, 7, JSON.stringify(tokens));
      assert.equal(count, 7);
      const text = await post<{ prompt: string }>('/detokenize', { model: modelIds.writer, tokens });
      assert.equal(text.prompt, prompt);
    });
};

const similarity = (one: readonly number[], other: readonly number[]): number => {
  const dot = (left: readonly number[], right: readonly number[]) =>
    left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0);
  return dot(one, other) / Math.sqrt(dot(one, one) * dot(other, other));
};
