/** The JSON of an event says all that the event says, whatever its names look like. */
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import t from 'tap';
import { UsageEvent } from '../../schemas/usage-event.ts';
import { eventJson } from '../../src/billing/event-json.ts';
import { quoted } from '../../src/quoted.ts';
import { usageEvent } from './usage-events.ts';

const count = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 30 });
/** As we make them. */
const ownId = fc.stringMatching(/^[a-z]+_[0-9a-z]{1,30}$/);
const amount = fc.constantFrom('0', '0.000002', '12.5');

const events = fc.record({
  schema: fc.constant(1 as const),
  id: ownId,
  time: count,
  request_id: ownId,
  subscription: name,
  key: name,
  route: name,
  model: name,
  engine: name,
  outcome: fc.constantFrom('completed', 'failed', 'cancelled'),
  status: fc.constantFrom(200, 499, 503),
  quantities: fc.record(
    {
      prompt_tokens: count,
      completion_tokens: count,
      cached_tokens: count,
      reasoning_tokens: count,
      megapixels: amount,
      seconds: amount,
      inputs: count,
    },
    { requiredKeys: ['prompt_tokens', 'completion_tokens', 'cached_tokens', 'reasoning_tokens'] },
  ),
  generated_tokens: count,
  delivered_tokens: count,
  price: fc.record({ prompt: amount, completion: amount, image: amount }, { requiredKeys: [] }),
  cost: amount,
  queued_ms: count,
  first_token_ms: fc.option(count),
  total_ms: count,
});

t.test('every field is there', async (t) => {
  const [event] = fc.sample(events, 1);
  t.strictSame(Object.keys(event ?? {}), Object.keys(UsageEvent.properties), 'here');
  t.strictSame(
    Object.keys(JSON.parse(eventJson(usageEvent()))),
    Object.keys(UsageEvent.properties),
    'and in the JSON',
  );
});

t.test('it reads as the event', async (t) => {
  fc.assert(
    fc.property(events, (event) =>
      isDeepStrictEqual(JSON.parse(eventJson(event)), JSON.parse(JSON.stringify(event))),
    ),
    { numRuns: 300, endOnFailure: true },
  );
  const event = usageEvent();
  t.equal(eventJson(event), JSON.stringify(event), 'to the letter');
});

t.test('a text in quotes is what JSON makes of it', async (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => quoted(text) === JSON.stringify(text)),
    { numRuns: 500, endOnFailure: true },
  );
  for (const text of ['', ' ~', '"', '\\', '\u007f', '\ud800', 'é', '\n'])
    t.equal(quoted(text), JSON.stringify(text));
});
