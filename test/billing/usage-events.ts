/** Builds valid usage events for tests, and arbitrary ones for property tests. */
import * as fc from 'fast-check';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { requestIds } from '../../src/http/request-id.ts';

/** As the gateway makes them. */
const nextId = requestIds();

export const usageEvent = (overrides: Partial<UsageEvent> = {}): UsageEvent => {
  const request_id = nextId();
  return {
    schema: 1,
    id: `usage_${request_id}`,
    time: Date.UTC(2026, 10, 15, 12),
    request_id,
    subscription: 'sub_a',
    key: 'key_a',
    route: '/chat/completions',
    model: 'sluice/writer',
    engine: 'simulator',
    outcome: 'completed',
    status: 200,
    quantities: { prompt_tokens: 10, completion_tokens: 5, cached_tokens: 0, reasoning_tokens: 0 },
    generated_tokens: 5,
    delivered_tokens: 5,
    price: { prompt: '0.0000001', completion: '0.0000002' },
    cost: '0.000002',
    queued_ms: 0,
    first_token_ms: 3,
    total_ms: 9,
    ...overrides,
  };
};

const count = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 30 });
/** As we make them. */
const ownId = fc.stringMatching(/^[a-z]+_[0-9a-z]{1,30}$/);
const amount = fc.constantFrom('0', '0.000002', '12.5');

export const anyUsageEvent = fc.record({
  schema: fc.constant(1 as const),
  id: ownId,
  time: count,
  request_id: ownId,
  subscription: name,
  key: name,
  route: name,
  model: name,
  requested_model: name,
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
