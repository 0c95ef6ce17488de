/** Tests token counting on unusual text in bounded time, and exact cost arithmetic. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { costOf, tokenCost } from '../../src/billing/cost.ts';
import { formatScaled } from '../../src/helpers/decimal.ts';
import { countTokens } from '../../src/tokens/count.ts';

t.test('known counts', async (t) => {
  t.equal(countTokens(['hello world'], 'o200k_base'), 2);
  t.equal(countTokens(['hello', ' world'], 'GPT'), 2);
  t.equal(countTokens(['hello world'], 'Llama3'), 2);
  t.equal(countTokens([], 'Other'), 0);
  t.ok(countTokens(['<|endoftext|>'], 'GPT') > 1, 'a special token in a prompt is plain text');
});

t.test('never more tokens than bytes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 600 }), async (text) => {
      const tokens = countTokens([text], 'Other');
      return tokens <= Buffer.byteLength(text);
    }),
    { numRuns: 200, seed: 3 },
  );
});

t.test('text without breaks is counted in linear time', async (t) => {
  // Merged as one word each of these would take minutes.
  const million = 1_000_000;
  t.equal(countTokens([' '.repeat(million)], 'Other'), 7813);
  t.equal(countTokens(['a'.repeat(million)], 'Other'), 125_000);
});

t.test('exact amounts', async (t) => {
  t.equal(costOf([]), '0');
  t.equal(costOf([[3, '0.1']]), '0.3');
  t.equal(costOf([[10, '0.1']]), '1');
  t.equal(
    costOf([
      [1, '0.1'],
      [1, '0.2'],
    ]),
    '0.3',
  );
  t.equal(
    costOf([
      [1_000_000, '0.000000000123'],
      ['1.048576', '0.04'],
    ]),
    '0.04206604',
  );
  t.equal(
    costOf([
      [0, '5'],
      [7, '0'],
    ]),
    '0',
  );
});

t.test('amounts agree with integers', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(1e9), fc.nat(1e9)), { maxLength: 5 }),
      fc.integer({ min: 1, max: 12 }),
      (items, digits) => {
        const decimal = (units: number) => {
          const text = String(units).padStart(digits + 1, '0');
          return `${text.slice(0, -digits)}.${text.slice(-digits)}`;
        };
        const cost = costOf(items.map(([quantity, units]) => [quantity, decimal(units)]));
        const [whole = '', fraction = ''] = cost.split('.');
        const sum = items.reduce((total, [quantity, units]) => total + BigInt(quantity) * BigInt(units), 0n);
        return (
          BigInt(whole + fraction.padEnd(digits, '0')) === sum && /^(0|[1-9]\d*)(\.\d*[1-9])?$/.test(cost)
        );
      },
    ),
    { seed: 4 },
  );
});

t.test('each kind of token has its price', async (t) => {
  const used = { prompt: 100, completion: 50, cached: 40, reasoning: 20 };
  t.equal(
    tokenCost(used, { prompt: '0.01', completion: '0.02' }),
    '2',
    'the plain prices where there are no others',
  );
  t.equal(
    tokenCost(used, {
      prompt: '0.01',
      completion: '0.02',
      input_cache_read: '0.001',
      internal_reasoning: '0.03',
    }),
    '1.84',
  );
  t.equal(
    tokenCost({ prompt: 1, completion: 1, cached: 5, reasoning: 5 }, { prompt: '1', completion: '1' }),
    '10',
    'never below zero',
  );
});

t.test('cost is the exact product of quantities and prices, however large or fine', async () => {
  const price = fc
    .tuple(fc.bigInt({ min: 0n, max: 10n ** 22n }), fc.integer({ min: 0, max: 20 }))
    .map(([units, scale]) => formatScaled({ units, scale }));
  const tokens = fc.oneof(fc.nat(100_000), fc.nat(2 ** 31 - 1));
  fc.assert(
    fc.property(
      tokens,
      tokens,
      tokens,
      tokens,
      price,
      price,
      price,
      price,
      (fresh, cached, said, thought, ...prices) => {
        const [prompt, input_cache_read, completion, internal_reasoning] = prices;
        const used = { prompt: fresh + cached, completion: said + thought, cached, reasoning: thought };
        assert.equal(
          tokenCost(used, { prompt, input_cache_read, completion, internal_reasoning }),
          costOf([
            [fresh, prompt],
            [cached, input_cache_read],
            [said, completion],
            [thought, internal_reasoning],
          ]),
        );
      },
    ),
    { numRuns: 500 },
  );
});
