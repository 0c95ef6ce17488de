/** Ids of requests are told apart by a prefix and a number; all other ids are left alone. */
import * as fc from 'fast-check';
import t from 'tap';
import { numberOf, prefixOf } from '../../src/adapters/ledger/numbered-id.ts';
import { requestIds } from '../../src/http/request-id.ts';

t.test('those of a process have one prefix and count up', async (t) => {
  const next = requestIds();
  const ids = Array.from({ length: 100 }, () => `usage_${next()}`);
  const [prefix] = ids.map(prefixOf);
  t.ok(ids.every((id) => prefixOf(id) === prefix && id.startsWith(`${prefix}`)));
  t.strictSame(
    ids.map(numberOf),
    ids.map((_, index) => index + 1),
  );
});

t.test('prefix and number are the id', async () => {
  const digit = fc.constantFrom(...'0123456789abcdefz');
  const tail = fc.string({
    unit: fc.oneof({ weight: 9, arbitrary: digit }, { weight: 1, arbitrary: fc.string() }),
  });
  fc.assert(
    fc.property(fc.array(digit, { minLength: 22, maxLength: 26 }), tail, (digits, end) => {
      const id = `usage_req_${digits.join('')}${end}`;
      const prefix = prefixOf(id);
      const number = prefix === undefined ? undefined : numberOf(id);
      return number === undefined || `${prefix}${number.toString(36)}` === id;
    }),
    { numRuns: 1000, endOnFailure: true },
  );
});

t.test('ids of other kinds', async (t) => {
  const prefix = `usage_req_${'0'.repeat(24)}`;
  for (const id of [
    '',
    'usage_job_1',
    `usage_req_${'0'.repeat(23)}`,
    `usage_req_${'A'.repeat(24)}1`,
    ` ${prefix}1`,
  ])
    t.equal(prefixOf(id), undefined, id);
  for (const tail of ['', '0', '01', 'A', '1 ', '-1', '1.5', 'é', '12345678'])
    t.equal(numberOf(`${prefix}${tail}`), undefined, tail);
});
