/** Tests the rows of events for ClickHouse: times in any order, and text with what separates rows and columns. */
import fc from 'fast-check';
import t from 'tap';
import { columns, rowOf } from '../../src/adapters/ledger/clickhouse-rows.ts';
import { usageEvent } from './usage-events.ts';

const fieldsOf = (row: string): Record<string, string | undefined> => {
  const fields = row.slice(0, -1).split('\t');
  return Object.fromEntries(columns.map((name, index) => [name, fields[index]]));
};

t.test('times have milliseconds, also when their seconds alternate', async (t) => {
  const time = fc.oneof(fc.nat(5_000), fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) }));
  fc.assert(
    fc.property(fc.array(time), (times) => {
      for (const time of times) {
        const expected = new Date(time).toISOString().replace('T', ' ').replace('Z', '');
        t.match(fieldsOf(rowOf(usageEvent({ time }))), { time: expected });
      }
    }),
  );
});

t.test('a row has one line and all columns, whatever the text', async (t) => {
  const event = usageEvent({ model: 'a\tb\nc\\d\re' });
  const row = rowOf(event);
  t.equal(row.indexOf('\n'), row.length - 1);
  t.equal(row.split('\t').length, columns.length);
  t.match(fieldsOf(row), { id: event.id, model: 'a\\tb\\nc\\\\d\\re' });
});
