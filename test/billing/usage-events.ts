/** Usage events for tests: valid, each with an id of its own, all else as asked. */
import type { UsageEvent } from '../../schemas/usage-event.ts';

let made = 0;

export const usageEvent = (overrides: Partial<UsageEvent> = {}): UsageEvent => ({
  schema: 1,
  id: `use_${++made}`,
  time: Date.UTC(2026, 10, 15, 12),
  request_id: `req_${made}`,
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
});
