/** Tests amounts in billionths of a dollar against whole numbers of any size. */
import fc from 'fast-check';
import t from 'tap';
import { dollars, nanodollars } from '../../src/helpers/decimal.ts';

t.test('rounded up, and exact otherwise', async (t) => {
  const amount = fc.record({ whole: fc.nat(9_000_000), fraction: fc.stringMatching(/^\d{0,18}$/) });
  fc.assert(
    fc.property(amount, ({ whole, fraction }) => {
      const text = fraction === '' ? String(whole) : `${whole}.${fraction}`;
      const scaled = BigInt(`${whole}${fraction.padEnd(18, '0')}`);
      return BigInt(nanodollars(text)) === (scaled + 999_999_999n) / 1_000_000_000n;
    }),
  );
  t.equal(nanodollars('0.0000000001'), 1);
  t.equal(nanodollars('9007199254740993'), Number.MAX_SAFE_INTEGER);
});

t.test('and back', async (t) => {
  fc.assert(
    fc.property(
      fc.nat({ max: Number.MAX_SAFE_INTEGER }),
      (amount) => nanodollars(dollars(amount)) === amount,
    ),
  );
  t.equal(dollars(1), '0.000000001');
  t.equal(dollars(10_500_000_000), '10.5');
  t.equal(dollars(-1), '0');
});
