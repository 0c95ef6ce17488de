/** Checks that balancing by prefix finds the caches of two replicas, by the server's own count of cached tokens. */
import assert from 'node:assert/strict';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { Random } from '../../../bench/routing/random.ts';
import type { Bench } from '../check.ts';
import { modelIds } from '../config.ts';
import { user } from './chat.ts';

const chats = 9;
const turns = 4;
/** Of a question; the toy model has a token for each byte. */
const bytes = 700;

/** Tokens of all prompts, and those that the replicas had cached. */
interface Counted {
  readonly prompt: number;
  readonly cached: number;
}

export const checkRouting = async ({ check, client }: Bench): Promise<void> => {
  /** The same chats for every model, but for the first word: nothing of another run is cached for them. */
  const converse = async (model: string, firstWord: string): Promise<Counted> => {
    const random = new Random(7);
    const histories = Array.from({ length: chats }, (_, chat): ChatCompletionMessageParam[] => [
      { role: 'system', content: `${firstWord} chat ${chat}.` },
    ]);
    // In random order, one request after the other: which replica is free is no matter of speed.
    const due = histories.flatMap((history) => Array<typeof history>(turns).fill(history));
    let [prompt, cached] = [0, 0];
    while (due.length > 0) {
      const [history = []] = due.splice(random.between(0, due.length - 1), 1);
      history.push(user(random.text(bytes).slice(0, bytes)));
      const { choices, usage } = await client.chat.completions.create({
        model,
        messages: history,
        max_tokens: 16,
      });
      history.push({ role: 'assistant', content: choices[0]?.message.content ?? '' });
      prompt += usage?.prompt_tokens ?? 0;
      cached += usage?.prompt_tokens_details?.cached_tokens ?? 0;
    }
    return { prompt, cached };
  };

  await check('prefix routing finds the cache', async () => {
    const byPrefix = await converse(modelIds.writer, 'First');
    const byLoad = await converse(modelIds.leastBusy, 'Other');
    for (const [balance, { prompt, cached }] of Object.entries({ prefix: byPrefix, 'least-busy': byLoad }))
      console.log(`         ${balance}: ${cached} of ${prompt} prompt tokens were cached`);
    assert.equal(byPrefix.prompt, byLoad.prompt, 'the same chats');
    assert.ok(byPrefix.cached > 1.25 * byLoad.cached, `${byPrefix.cached} and ${byLoad.cached} tokens`);
  });
};
