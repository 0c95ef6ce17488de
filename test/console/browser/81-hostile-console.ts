/** Texts from outside that are markup, in everything that the operator's pages show: they stay text. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { LiveEngine, LiveSnapshot } from '../../../schemas/admin/live.ts';
import type { LogEntry, Timeline } from '../../../schemas/admin/requests.ts';
import type { Scenarios } from '../scene.ts';

const attack = (where: string): string =>
  `${where}"><img src=x onerror="document.title='run'"><script>document.title='run'</script>`;

const timeline: Timeline = {
  ...{ received: 0, parsed: 1, admitted: 2, engine_called: 3, engine_answered: 4, first_byte: 5 },
  ...{ first_token: 6, billed: null, last_byte: null },
};
const common = {
  ...{ process: 1, method: attack('method'), route: attack('route'), model: attack('model') },
  ...{ subscription: attack('subscription'), key: attack('key'), replica: attack('replica') },
  ...{
    attempts: 2,
    continuations: 1,
    queue_ms: 0,
    first_token_ms: 6,
    prompt_tokens: 1,
    completion_tokens: 1,
  },
  timeline,
};
const ended: LogEntry = {
  ...{ ...common, id: attack('ended'), object: 'request.ended', time: 1_794_864_000_000 },
  ...{ status: 200, cut: attack('cut'), total_ms: 9, cost: '0.1' },
};
const prefix = { blocks: 0, matched: 0, hit_rate: null };
const engine: LiveEngine = {
  ...{ id: attack('engine'), object: 'engine', health: 'down', waiting: 0, discovery: attack('discovery') },
  ...{ retries: { made: 0, refused: 0 }, continuations: { made: 0, failed: 0 }, prefix },
  replicas: [
    {
      ...{ url: attack('url'), alias: attack('alias'), circuit: 'open', open_since: 1_794_864_000_000 },
      last_error: { time: 1_794_864_000_000, message: attack('message') },
      ...{ cooldown_ms: 5, in_flight: 0, drained: false, weight: 1, share: 1, prefix },
    },
  ],
  problems: [attack('problem')],
  tokens_per_second: 1,
};
const snapshot: LiveSnapshot = {
  ...{ object: 'live.snapshot', time: 1_794_864_000_000, interval_ms: 1000, processes: 1 },
  counts: { receiving: 0, queued: 0, running: 0, streaming: 1, slow_readers: 1 },
  ...{ tokens_per_second: 1, models: [], engines: [engine] },
  requests: [
    {
      ...{
        ...common,
        id: attack('request'),
        object: 'request',
        state: 'streaming',
        engine: attack('engine'),
      },
      ...{ age_ms: 10, slow_reader: true, unread_bytes: 5, tokens_per_second: 1 },
    },
  ],
  ...{ ended: [ended], ended_count: 1 },
};

const total = {
  ...{ object: 'usage.total', requests: 1, failed: 0, prompt_tokens: 1, completion_tokens: 1 },
  ...{ cached_tokens: 0, reasoning_tokens: 0, inputs: 0, megapixels: 0, seconds: 0, cost: '1' },
  ...{ day: new Date().toISOString().slice(0, 10), model: attack('model') },
};
const event = {
  ...{ object: 'usage.event', schema: 1, id: attack('id'), time: 1_794_864_000_000 },
  ...{ request_id: attack('event'), subscription: attack('subscription'), key: attack('key') },
  ...{ route: attack('route'), model: attack('model'), engine: attack('engine') },
  ...{ outcome: 'completed', status: 200, generated_tokens: 1, delivered_tokens: 1, price: {}, cost: '1' },
  quantities: { prompt_tokens: 1, completion_tokens: 1, cached_tokens: 0, reasoning_tokens: 0 },
  ...{ queued_ms: 0, first_token_ms: 1, total_ms: 2 },
};
const budget = {
  ...{
    object: 'budget',
    id: attack('id'),
    tag: attack('tag'),
    amount: '10',
    period: 'month',
    time_zone: 'UTC',
  },
  ...{ created: 1, used: '1', reserved: '2', left: '7', resets: null },
};
const list = (data: readonly object[]) => ({ object: 'list', data, links: { next: null }, has_more: false });
const model = {
  ...{ id: attack('model'), object: 'model', kind: attack('kind'), engine: attack('engine') },
  ...{ health: 'down', private: false, pricing: {}, limits: {}, problems: [attack('problem')] },
};

const stub = (page: Page, path: string, body: string, contentType = 'application/json') =>
  page.route(
    (url) => url.pathname === `/admin/v1${path}`,
    (route) => route.fulfill({ contentType, body }),
  );

/** Nothing of it became an element, or ran. */
const isText = async (page: Page, ...where: readonly string[]): Promise<void> => {
  for (const each of where) await page.getByText(attack(each)).first().waitFor();
  assert.equal(await page.locator('#app img, #app script').count(), 0);
  assert.match(await page.title(), /Sluice console$/);
};

const scenarios: Scenarios = {
  'markup in requests, engines, usage and models stays text': async ({ page, admin, signIn }) => {
    await stub(page, '/live', `event: snapshot\ndata: ${JSON.stringify(snapshot)}\n\n`, 'text/event-stream');
    await stub(page, '/usage', JSON.stringify(list([total])));
    await stub(page, '/usage/events', JSON.stringify(list([event])));
    await stub(page, '/budgets', JSON.stringify(list([budget])));
    await stub(page, '/models', JSON.stringify(list([model])));
    await signIn();
    await isText(page, 'model', 'engine', 'request', 'replica', 'ended', 'alias');
    await page.getByText('2 attempts').first().waitFor();
    await page.getByText('continued', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: attack('request') }).click();
    await isText(page, 'method', 'subscription', 'key');
    await page.keyboard.press('Escape');
    await page.goto(`${admin}/#/engines`);
    await page.getByRole('heading', { name: 'Models & engines', level: 1 }).waitFor();
    await isText(page, 'url', 'message', 'problem', 'kind', 'model');
    await page.getByRole('button', { name: `Drain ${attack('alias')}` }).click();
    await page.getByRole('dialog', { name: 'Drain the last replica?' }).getByText(attack('engine')).waitFor();
    await page.keyboard.press('Escape');
    await page.goto(`${admin}/#/usage`);
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
    // Also in the legend of the chart.
    await isText(page, 'model', 'event', 'route', 'key', 'tag');
    await page.getByRole('button', { name: attack('event') }).click();
    await page.getByRole('dialog', { name: 'Usage event' }).getByText('request_id').waitFor();
    await isText(page);
  },
};

export default scenarios;
