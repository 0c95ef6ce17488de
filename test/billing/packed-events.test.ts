/** Events that were packed come out as they went in, and take little room. */
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import t from 'tap';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { pack, unpack } from '../../src/adapters/ledger/packed-events.ts';
import { anyUsageEvent, usageEvent } from './usage-events.ts';

const plain = (events: readonly UsageEvent[]): unknown => JSON.parse(JSON.stringify(events));

t.test('any events come back, in their order', async () => {
  fc.assert(
    fc.property(fc.array(anyUsageEvent, { maxLength: 5 }), (events) =>
      isDeepStrictEqual(plain(unpack(pack([...events, ...events]))), plain([...events, ...events])),
    ),
    { numRuns: 200, endOnFailure: true },
  );
});

t.test('an id that holds that of its request, and one that does not', async (t) => {
  const events = ['req_1', 'other', ''].map((request_id) => usageEvent({ id: 'usage_req_1', request_id }));
  t.strictSame(unpack(pack(events)), events);
});

t.test('what a later version says is kept', async (t) => {
  const { quantities } = usageEvent();
  const more = { ...usageEvent(), added: { deep: [1, 'ü'] } };
  const measured = usageEvent({ quantities: { ...quantities, added: 5 } as UsageEvent['quantities'] });
  const known = usageEvent();
  t.strictSame(unpack(pack([more, known, measured])), [known, more, measured]);
});

t.test('what events have in common stands once', async (t) => {
  const events = Array.from({ length: 100 }, () => usageEvent({ model: 'a-model-of-a-name' }));
  const apart = events.map((event) => ({ ...event, price: { ...event.price } }));
  for (const some of [events, apart]) {
    const text = pack(some);
    t.equal(text.split('a-model-of-a-name').length, 2);
    t.ok(text.length < JSON.stringify(some).length / 4, `${text.length} characters`);
  }
});

t.test('a damaged block says so', async (t) => {
  const text = pack([usageEvent()]).replace('"cost":["0.000002"]', '"cost":[]');
  t.throws(() => unpack(text), {
    message: 'A block of the ledger is damaged: its columns are not of one length.',
  });
});
