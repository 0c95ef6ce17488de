/** Tests the periods of budgets: days, weeks and months of time zones whose clocks are set. */
import t from 'tap';
import type { BudgetPeriod } from '../../schemas/budgets.ts';
import { isTimeZone, periodAt } from '../../src/budgets/period.ts';

const created = Date.parse('2026-03-05T12:34:56Z');

const span = (period: BudgetPeriod, zone: string, now: string): readonly (string | undefined)[] => {
  const { start, end } = periodAt(period, zone, Date.parse(now), created);
  return [new Date(start).toISOString(), end === undefined ? undefined : new Date(end).toISOString()];
};

t.test('days, weeks and months', async (t) => {
  const cases: readonly [BudgetPeriod, string, string, string, string][] = [
    ['day', 'UTC', '2026-11-16T00:00:00Z', '2026-11-16T00:00:00.000Z', '2026-11-17T00:00:00.000Z'],
    ['day', 'UTC', '2026-11-16T23:59:59.999Z', '2026-11-16T00:00:00.000Z', '2026-11-17T00:00:00.000Z'],
    ['day', 'Asia/Tokyo', '2026-11-16T16:00:00Z', '2026-11-16T15:00:00.000Z', '2026-11-17T15:00:00.000Z'],
    [
      'day',
      'America/New_York',
      '2026-11-16T03:00:00Z',
      '2026-11-15T05:00:00.000Z',
      '2026-11-16T05:00:00.000Z',
    ],
    ['day', 'Asia/Kathmandu', '2026-11-16T18:14:59Z', '2026-11-15T18:15:00.000Z', '2026-11-16T18:15:00.000Z'],
    // Monday to Monday.
    ['week', 'UTC', '2026-11-16T00:00:00Z', '2026-11-16T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
    ['week', 'UTC', '2026-11-15T23:59:59Z', '2026-11-09T00:00:00.000Z', '2026-11-16T00:00:00.000Z'],
    ['week', 'UTC', '2027-01-01T12:00:00Z', '2026-12-28T00:00:00.000Z', '2027-01-04T00:00:00.000Z'],
    ['week', 'Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-18T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
    ['month', 'UTC', '2026-02-28T23:59:59Z', '2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
    ['month', 'UTC', '2028-02-29T12:00:00Z', '2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
    ['month', 'UTC', '2026-12-31T12:00:00Z', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    [
      'month',
      'Europe/Berlin',
      '2026-10-31T22:59:59Z',
      '2026-09-30T22:00:00.000Z',
      '2026-10-31T23:00:00.000Z',
    ],
    [
      'month',
      'Pacific/Auckland',
      '2026-03-31T10:59:59Z',
      '2026-02-28T11:00:00.000Z',
      '2026-03-31T11:00:00.000Z',
    ],
  ];
  for (const [period, zone, now, start, end] of cases)
    t.same(span(period, zone, now), [start, end], `${period} of ${zone} at ${now}`);
});

t.test('days on which clocks are set', async (t) => {
  t.same(
    span('day', 'Europe/Berlin', '2026-03-29T12:00:00Z'),
    ['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
    '23 hours',
  );
  t.same(
    span('day', 'Europe/Berlin', '2026-10-25T00:30:00Z'),
    ['2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
    '25 hours',
  );
  t.same(
    span('day', 'Africa/Cairo', '2026-04-24T12:00:00Z'),
    ['2026-04-23T22:00:00.000Z', '2026-04-24T21:00:00.000Z'],
    'a day without a midnight',
  );
  t.same(
    span('day', 'America/Havana', '2026-11-01T12:00:00Z'),
    ['2026-11-01T04:00:00.000Z', '2026-11-02T05:00:00.000Z'],
    'a day with two midnights begins at the first',
  );
  t.same(
    span('day', 'Pacific/Apia', '2011-12-30T09:00:00Z'),
    ['2011-12-29T10:00:00.000Z', '2011-12-30T10:00:00.000Z'],
    'the next day does not exist',
  );
  t.same(span('day', 'Pacific/Apia', '2011-12-30T10:00:00Z'), [
    '2011-12-30T10:00:00.000Z',
    '2011-12-31T10:00:00.000Z',
  ]);
});

t.test('the periods of a zone follow each other without a gap', async (t) => {
  for (const zone of ['UTC', 'Europe/Berlin', 'America/Havana', 'Africa/Cairo', 'Australia/Lord_Howe'])
    for (const period of ['day', 'week', 'month'] as const) {
      let now = Date.parse('2026-01-01T00:00:00Z');
      let { end } = periodAt(period, zone, now, created);
      for (let count = 0; count < 60 && end !== undefined; count++) {
        now = end;
        t.ok(periodAt(period, zone, now - 1, created).end === now, `${period} of ${zone} ends at ${now}`);
        const next = periodAt(period, zone, now, created);
        if (next.start !== now) t.equal(next.start, now, `${period} of ${zone} begins at ${now}`);
        end = next.end;
      }
    }
});

t.test('a total begins when the budget was made, and never ends', async (t) => {
  t.same(periodAt('total', 'UTC', Date.now(), created), { start: created, end: undefined });
});

t.test('names of time zones', async (t) => {
  t.ok(isTimeZone('UTC'));
  t.ok(isTimeZone('Europe/Berlin'));
  t.notOk(isTimeZone('Mars/Olympus'));
  t.notOk(isTimeZone(''));
});
