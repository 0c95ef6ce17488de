/** Tests that the JSON of a usage event contains every field, whatever the names contain. */
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import t from 'tap';
import { UsageEvent } from '../../schemas/usage-event.ts';
import { eventJson } from '../../src/billing/event-json.ts';
import { quoted } from '../../src/helpers/quoted.ts';
import { anyUsageEvent, usageEvent } from './usage-events.ts';

t.test('every field is there', async (t) => {
  const [event] = fc.sample(anyUsageEvent, 1);
  t.strictSame(Object.keys(event ?? {}), Object.keys(UsageEvent.properties), 'here');
  t.strictSame(
    Object.keys(JSON.parse(eventJson(usageEvent({ requested_model: 'sluice/asked' })))),
    Object.keys(UsageEvent.properties),
    'and in the JSON',
  );
});

t.test('the JSON parses to the event', async (t) => {
  fc.assert(
    fc.property(anyUsageEvent, (event) =>
      isDeepStrictEqual(JSON.parse(eventJson(event)), JSON.parse(JSON.stringify(event))),
    ),
    { numRuns: 300, endOnFailure: true },
  );
  const event = usageEvent();
  t.equal(eventJson(event), JSON.stringify(event), 'to the letter');
});

t.test('quoted text equals JSON.stringify', async (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => quoted(text) === JSON.stringify(text)),
    { numRuns: 500, endOnFailure: true },
  );
  for (const text of ['', ' ~', '"', '\\', '\u007f', '\ud800', 'é', '\n'])
    t.equal(quoted(text), JSON.stringify(text));
});
