/** Tests periods, sums and stacks of the usage page. */
import t from 'tap';
import {
  bucketsOf,
  customPeriod,
  dateText,
  mostBuckets,
  periodOf,
  startOf,
  unitsOf,
  usualUnit,
} from '../../src/console/web/pages/usage/period.ts';
import {
  groupsOf,
  layersOf,
  stacked,
  sumOf,
  type UsageRow,
} from '../../src/console/web/pages/usage/totals.ts';

const at = (text: string): number => Date.parse(text) / 1000;
const now = new Date('2026-11-16T22:15:00Z');

t.test('periods are those of universal time', async (t) => {
  t.strictSame(periodOf('24h', now), { from: at('2026-11-15T23:00Z'), to: at('2026-11-16T23:00Z') });
  t.strictSame(periodOf('7d', now), { from: at('2026-11-10'), to: at('2026-11-17') });
  t.strictSame(periodOf('month', now), { from: at('2026-11-01'), to: at('2026-11-17') });
  t.strictSame(periodOf('last-month', new Date('2026-01-05T00:00Z')), {
    ...{ from: at('2025-12-01'), to: at('2026-01-01') },
  });
  t.strictSame(periodOf('year', now), { from: at('2025-12-01'), to: at('2026-11-17') });
  t.strictSame(customPeriod('2026-01-01', '2026-01-01'), { from: at('2026-01-01'), to: at('2026-01-02') });
  t.equal(customPeriod('2026-01-02', '2026-01-01'), undefined);
  t.equal(customPeriod('', '2026-01-01'), undefined);
  t.equal(dateText(at('2026-01-02') - 1), '2026-01-01');
});

t.test('units suit the length of a period', async (t) => {
  const days = (count: number) => ({ from: 0, to: count * 86_400 });
  t.strictSame(
    [1, 2, 3, 62, 63].map((count) => usualUnit(days(count))),
    ['hour', 'hour', 'day', 'day', 'month'],
  );
  t.ok(unitsOf(days(31)).includes('hour'));
  t.notOk(unitsOf(days(32)).includes('hour'), 'the API refuses it');
});

t.test('every hour, day or month of a period is a bucket', async (t) => {
  const november = { from: at('2026-11-01'), to: at('2026-12-01') };
  t.equal(bucketsOf(november, 'hour').length, 720);
  t.equal(bucketsOf(november, 'day').length, 30);
  t.strictSame(bucketsOf({ from: at('2025-12-10'), to: at('2026-02-02') }, 'month'), [
    ...['2025-12-01', '2026-01-01', '2026-02-01'].map(at),
  ]);
  t.equal(bucketsOf({ from: 0, to: at('2026-01-01') }, 'day').length, mostBuckets);
  t.strictSame(['2026-11', '2026-11-16', '2026-11-16T21:00Z'].map(startOf), [
    ...['2026-11-01', '2026-11-16', '2026-11-16T21:00Z'].map(at),
  ]);
});

const row = (day: string, model: string, cost: string, requests = 1): UsageRow => ({
  ...{ day, model, requests, failed: 0, prompt_tokens: 10, completion_tokens: 5, cached_tokens: 1 },
  ...{ reasoning_tokens: 0, inputs: 0, megapixels: 0, seconds: 0.5, cost },
});

t.test('rows are summed, grouped and stacked', async (t) => {
  const rows = [row('2026-11-01', 'a', '1'), row('2026-11-02', 'b', '5', 3), row('2026-11-02', 'a', '0.5')];
  t.match(sumOf(rows), { requests: 5, prompt_tokens: 30, cached_tokens: 3, seconds: 1.5, cost: 6.5 });
  const groups = groupsOf(rows, 'model', 'cost');
  t.strictSame(
    groups.map(({ id, sums }) => [id, sums.cost]),
    [
      ['b', 5],
      ['a', 1.5],
    ],
  );
  const buckets = ['2026-11-01', '2026-11-02', '2026-11-03'].map(at);
  const layers = layersOf(
    groups.map(({ id, rows }) => ({ name: id, rows })),
    buckets,
    { unit: 'day', measure: 'cost' },
  );
  t.strictSame(layers, [
    { name: 'b', values: [0, 5, 0] },
    { name: 'a', values: [1, 0.5, 0] },
  ]);
  t.strictSame(
    stacked(layers).map(({ layer, colour, sums }) => [layer.name, colour, sums]),
    [
      ['a', 1, [1, 5.5, 0]],
      ['b', 0, [0, 5, 0]],
    ],
  );
});

t.test('groups without a colour of their own are one', async (t) => {
  const parts = Array.from({ length: 9 }, (_, index) => ({
    name: `m${index}`,
    rows: [row('2026-11-01', `m${index}`, '1')],
  }));
  const layers = layersOf(parts, [at('2026-11-01')], { unit: 'day', measure: 'cost' });
  t.strictSame(
    layers.map(({ name }) => name),
    ['m0', 'm1', 'm2', 'm3', 'm4', '4 others'],
  );
  t.strictSame(layers.at(-1)?.values, [4]);
});
