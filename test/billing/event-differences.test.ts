/** Tests that events read back from their differences are the events that were written. */
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import t from 'tap';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { decodeEvents, encodeEvents } from '../../src/adapters/ledger/event-differences.ts';
import { anyUsageEvent, usageEvent } from './usage-events.ts';

/** Some events share most fields; some have fields of a later version. */
const anyEvents = fc
  .array(fc.tuple(anyUsageEvent, fc.subarray(['time', 'model', 'quantities', 'price', 'cost'] as const)))
  .chain((pairs) =>
    fc.tuple(
      fc.constant(pairs),
      fc.array(fc.option(fc.jsonValue(), { nil: undefined }), { minLength: pairs.length }),
    ),
  )
  .map(([pairs, later]) => {
    let before: UsageEvent = usageEvent();
    return pairs.map(([event, changed], index) => {
      before = { ...before, id: event.id, ...Object.fromEntries(changed.map((name) => [name, event[name]])) };
      return later[index] === undefined ? before : { ...before, later: later[index] };
    });
  });

t.test('differences decode to the events', async () => {
  fc.assert(
    fc.property(anyEvents, (events) =>
      isDeepStrictEqual(decodeEvents(encodeEvents(events)), JSON.parse(JSON.stringify(events))),
    ),
    { numRuns: 500, endOnFailure: true },
  );
});

t.test('what events share is written once', async (t) => {
  const [first, second] = [usageEvent(), usageEvent()];
  t.strictSame(JSON.parse(encodeEvents([first, { ...first, id: second.id, total_ms: 10_000 }])), [
    first,
    { id: second.id, total_ms: 10_000 },
  ]);
});
