/** Examples of usage, webhook secrets, health and the OpenAPI document. */

const json = (examples: Readonly<Record<string, unknown>>) => ({
  response: { 'application/json': examples },
});

const billed = {
  prompt_tokens: 1200,
  completion_tokens: 340,
  cached_tokens: 0,
  reasoning_tokens: 0,
  inputs: 0,
  megapixels: 0,
  seconds: 0,
  cost: '0.000768',
};

const list = (groupBy: readonly string[], row: Readonly<Record<string, unknown>>) => ({
  object: 'list',
  from: 1793491200,
  to: 1794787200,
  group_by: groupBy,
  data: [row],
  has_more: false,
  links: { next: null },
  storage: {
    bytes: 1536,
    files: 1,
    items: 1,
    limits: { bytes: 10_737_418_240, files: 100_000, items: 1_000_000 },
  },
});

export const usageExamples = json({
  'Totals by day and model': list(['day', 'model'], {
    object: 'usage.total',
    day: '2026-11-15',
    model: 'sluice/chat',
    requests: 42,
    failed: 1,
    ...billed,
  }),
  'Single requests': list(['request'], {
    object: 'usage.request',
    id: 'req_65a9a358806c904eec1b8c982',
    request_id: 'req_65a9a358806c904eec1b8c982',
    created: 1794732170,
    key: 'key_5b3f0c9e1d2a4f68',
    route: '/chat/completions',
    model: 'sluice/chat',
    outcome: 'completed',
    status: 200,
    ...billed,
  }),
});

const secret = {
  object: 'webhook.secret',
  secret: 'whsec_(your secret)',
  signing_secret: 'whsec_(your secret)',
  created_at: 1794732181,
  previous_secret_expires_at: null,
};

export const secretExamples = json({ 'The secret': secret });
export const rotateExamples = json({ 'A new secret': { ...secret, previous_secret_expires_at: 1794818581 } });

export const healthExamples = json({
  'All is well': {
    status: 'ok',
    version: '1.4.0',
    time: 1794732170,
    checks: { catalog: 'ok', engines: 'ok', storage: 'ok' },
  },
  'An engine is down': {
    status: 'degraded',
    version: '1.4.0',
    time: 1794732170,
    checks: { catalog: 'ok', engines: 'degraded', storage: 'ok' },
  },
});

export const openapiExamples = json({
  'Its beginning': {
    openapi: '3.1.0',
    info: { title: 'Sluice', version: '1.4.0' },
    servers: [{ url: 'https://gateway.example/v1' }],
  },
});
