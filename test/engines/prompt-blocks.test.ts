/** Tests how prompts are cut into hashed blocks, and what is remembered of them. */
import fc from 'fast-check';
import t from 'tap';
import { BLOCK_BYTES, MOST_BLOCKS, PromptBlocks } from '../../src/engines/pool/policies/prompt-blocks.ts';
import { SeenBlocks } from '../../src/engines/pool/policies/seen-blocks.ts';
import type { ChatMessage } from '../../src/ports/engines/chat.ts';
import type { CompletionCall } from '../../src/ports/engines/completion.ts';
import { sampleCall } from '../samples.ts';

const user = (text: string): ChatMessage => ({ role: 'user', content: [{ type: 'text', text }] });
const assistant = (text: string): ChatMessage => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
  toolCalls: [],
});
const chainOf = (
  messages: readonly ChatMessage[],
  change: Parameters<typeof sampleCall>[0] = {},
  model = 'm',
) => {
  const blocks = new PromptBlocks();
  blocks.read(model, sampleCall({ ...change, messages }), 1);
  return { chain: [...blocks.chain.subarray(0, 2 * blocks.count)], key: blocks.key, count: blocks.count };
};
const long = (name: string): string => `${name} `.repeat(2000).slice(0, 3000);

t.test('a prompt that goes on has the same blocks so far, and the same key', async () => {
  const texts = fc.string({ unit: 'grapheme', maxLength: 1500 });
  fc.assert(
    fc.property(fc.array(texts, { minLength: 1, maxLength: 6 }), texts, (turns, more) => {
      const messages = turns.map((text, index) => (index % 2 === 0 ? user(text) : assistant(text)));
      const before = chainOf(messages);
      const after = chainOf([...messages, assistant(more), user(more)]);
      // The last block of the shorter prompt is complete in both.
      return (
        before.chain.every((hash, index) => hash === after.chain[index]) &&
        (before.count === 0 || before.key === after.key)
      );
    }),
    { numRuns: 200 },
  );
});

t.test('one character, the model, a tool or the roles tell prompts apart', async (t) => {
  const [text, tools] = [long('sun'), [{ name: 'look', description: 'Looks.' }]];
  const same = chainOf([user(text)]);
  t.strictSame(chainOf([user(text)]), same);
  const others = {
    'first character': chainOf([user(`z${text.slice(1)}`)]),
    model: chainOf([user(text)], {}, 'n'),
    tool: chainOf([user(text)], { tools }),
    role: chainOf([{ role: 'system', content: [{ type: 'text', text }] }]),
    script: chainOf([user(text.replaceAll('s', 'あ'))]),
  };
  for (const [name, other] of Object.entries(others)) t.not(other.chain[0], same.chain[0], name);
  const later = chainOf([user(`${text.slice(0, 2999)}z`)]);
  t.strictSame(later.chain.slice(0, 10), same.chain.slice(0, 10), 'a change at the end leaves the start');
  t.not(later.key, same.key);
});

t.test('changes do not cancel each other out', async (t) => {
  const words = 'The quick brown fox jumps over the lazy dog and runs away from it. '
    .repeat(20)
    .slice(0, 1023);
  const swapped = (text: string, at: number): string => {
    const letter = text[at] ?? '';
    const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
    return text.slice(0, at) + other + text.slice(at + 1);
  };
  const same = chainOf([user(words)]).chain;
  for (let at = 0; at < 300; at++)
    for (const distance of [4, 8, 16, 32]) {
      const changed = swapped(swapped(words, at), at + distance);
      if (changed === words) continue;
      const { chain } = chainOf([user(changed)]);
      if (chain[1] === same[1] || chain[3] === same[3]) t.fail(`letters ${at} and ${at + distance}`);
    }
});

t.test('short prompts are not hashed; long ones and media only up to a bound', async (t) => {
  const blocks = new PromptBlocks();
  t.notOk(blocks.read('m', sampleCall({ messages: [user('x'.repeat(2 * BLOCK_BYTES - 2))] }), 2));
  t.ok(blocks.read('m', sampleCall({ messages: [user('x'.repeat(2 * BLOCK_BYTES))] }), 2));
  t.equal(chainOf([user('x'.repeat(3 * BLOCK_BYTES * MOST_BLOCKS))]).count, MOST_BLOCKS);
  t.equal(chainOf([user('x'.repeat(BLOCK_BYTES * MOST_BLOCKS)), user('y')]).count, MOST_BLOCKS);

  const picture = (base64: string | Uint8Array): ChatMessage => ({
    role: 'user',
    content: [
      { type: 'image', mediaType: 'image/png', base64: base64 as string },
      { type: 'text', text: long('what is this') },
    ],
  });
  const bytes = 8 * 1024 * 1024;
  const seen = chainOf([picture('a'.repeat(bytes))]);
  t.equal(seen.count, 6, 'a picture of megabytes is less than a block');
  t.not(
    chainOf([picture(`${'a'.repeat(bytes - 1)}b`)]).chain[0],
    seen.chain[0],
    'another picture is another prompt',
  );
  t.strictSame(chainOf([picture(Buffer.alloc(bytes, 'a'))]), seen, 'as bytes too');
});

t.test('texts and token ids of completions', async (t) => {
  const chain = (prompt: CompletionCall['prompts'][number]) => {
    const blocks = new PromptBlocks();
    blocks.read('m', { prompts: [prompt] } as unknown as CompletionCall, 1);
    return [...blocks.chain.subarray(0, 2 * blocks.count)];
  };
  t.equal(chain(long('text')).length, 10);
  t.strictSame(chain(`${long('text')} and more`).slice(0, 10), chain(long('text')));
  const ids = Array.from({ length: 400 }, (_, index) => index);
  t.equal(chain(ids).length, 6, 'four bytes each');
  t.strictSame(chain([...ids, 1, 2]).slice(0, 6), chain(ids));
});

t.test('what each replica has seen is known as a plain map knows it', async () => {
  const prompts = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.array(fc.tuple(prompts, fc.integer({ min: 0, max: 31 })), { maxLength: 40 }), (steps) => {
      const [blocks, seen] = [new PromptBlocks(), new SeenBlocks(2 ** 12)];
      const known = new Set<string>();
      return steps.every(([parts, slot]) => {
        const text = parts.map((part) => part.repeat(BLOCK_BYTES)).join('');
        blocks.read('m', { prompts: [text] } as unknown as CompletionCall, 1);
        seen.match(blocks, -1);
        const asKnown = [...seen.depths].every((depth, each) => {
          const starts = parts.map((_, index) => `${each} ${parts.slice(0, index + 1).join('')}`);
          const missing = starts.findIndex((start) => !known.has(start));
          return depth === (missing < 0 ? parts.length : missing);
        });
        seen.add(blocks, slot);
        for (let end = 1; end <= parts.length; end++) known.add(`${slot} ${parts.slice(0, end).join('')}`);
        return asKnown;
      });
    }),
  );
});

t.test('the oldest is dropped, and what is forgotten of a replica stays known of others', async (t) => {
  const [blocks, seen] = [new PromptBlocks(), new SeenBlocks(64)];
  const visit = (name: string, slot?: number): readonly number[] => {
    blocks.read('m', { prompts: [long(name)] } as unknown as CompletionCall, 1);
    seen.match(blocks, -1);
    const depths = [...seen.depths];
    if (slot !== undefined) seen.add(blocks, slot);
    return depths;
  };
  visit('first', 1);
  visit('first', 2);
  t.strictSame(visit('first').slice(0, 4), [0, 5, 5, 0]);
  seen.forget(1);
  t.strictSame(visit('first').slice(0, 4), [0, 0, 5, 0]);
  for (let other = 0; other < 200; other++) visit(`other ${other}`, 3);
  t.strictSame(visit('first')[2], 0, 'two hundred prompts later');
  t.strictSame(visit('other 199')[3], 5);
});
