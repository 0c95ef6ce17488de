/** The live view: many streams, a slow reader, timelines, cancelling, and a feed that breaks. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { eventually } from '../../eventually.ts';
import { checkAccessibility } from '../axe.ts';
import { type Operated, withGateway } from '../operated.ts';
import type { Scenarios } from '../scene.ts';

const row = {
  engine: 'simulator',
  context_length: 4_000_000,
  pricing: { prompt: '0', completion: '0.000001' },
};
const limits = { concurrency: 100, requests_per_minute: 100_000 };
const config = JSON.stringify({
  models: {
    'acme/writer': { ...row, limits },
    'acme/narrow': { ...row, limits: { ...limits, concurrency: 3 } },
  },
});

const chat = (model: string, directives: string) => ({
  ...{ model, stream: true, max_tokens: 1_000_000 },
  messages: [{ role: 'user', content: `/sim ${directives}\nGo on.` }],
});

/** Streams that are read until the scenario ends. */
class Streams {
  readonly #abort = new AbortController();
  readonly #gateway: Operated;
  readonly texts: string[] = [];
  #socket: Socket | undefined;

  constructor(gateway: Operated) {
    this.#gateway = gateway;
  }

  start(count: number, body: object): void {
    for (let made = 0; made < count; made++)
      this.#read(body).catch((error: unknown) => {
        if (!this.#abort.signal.aborted) throw error;
      });
  }

  async #read(body: object): Promise<void> {
    const place = this.texts.push('') - 1;
    const response = await this.#gateway.post('/chat/completions', body, this.#abort.signal);
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? [])
      this.texts[place] += decoder.decode(chunk, { stream: true });
  }

  /** Of a client that takes nothing. */
  stall(body: object): void {
    const text = JSON.stringify(body);
    const { hostname, port } = new URL(this.#gateway.origin);
    const socket = connect(Number(port), hostname, () =>
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${this.#gateway.key}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
      ),
    );
    socket.pause();
    this.#socket = socket;
  }

  end(): void {
    this.#abort.abort();
    this.#socket?.destroy();
  }
}

const scenarios: Scenarios = {
  'fifty streams flow, a slow reader is visible, and one is cancelled': async (scene) => {
    const { page, screenshot } = scene;
    await withGateway(scene, config, async (gateway) => {
      const streams = new Streams(gateway);
      try {
        const writers = page.getByRole('table', { name: 'Requests of acme/writer' }).locator('tbody tr');
        const narrow = page.getByRole('table', { name: 'Requests of acme/narrow' }).locator('tbody tr');
        await page.getByText('No request is in flight.').waitFor();
        streams.stall(chat('acme/narrow', 'tokens=1000000 rate=max'));
        await narrow.getByText('slow reader', { exact: true }).waitFor();
        streams.start(45, chat('acme/writer', 'tokens=100000 rate=20/s'));
        streams.start(5, chat('acme/narrow', 'tokens=100000 rate=20/s'));
        // One who comes later sees the same.
        await page.reload();
        await page
          .getByRole('term')
          .filter({ hasText: 'In flight' })
          .locator('xpath=../dd[text()="51"]')
          .waitFor();
        await eventually(async () => (await writers.count()) === 45, 'all rows');
        assert.equal(await narrow.count(), 6);
        assert.equal(await narrow.getByText('queued').count(), 3);
        assert.equal(await narrow.getByText('streaming').count(), 3);

        // The same element shows more and more: rows are kept, not made again.
        const first = writers.first();
        const tokens = async () => Number((await first.locator('td').nth(5).innerText()).replaceAll(',', ''));
        const cell = await first.locator('td').nth(5).elementHandle();
        const seen = await tokens();
        await eventually(async () => (await tokens()) > seen + 20, 'tokens grow');
        assert.ok(Number(((await cell?.innerText()) ?? '').replaceAll(',', '')) > seen + 20);
        assert.equal(await page.getByText('slow reader', { exact: true }).count(), 1);
        await page.getByRole('img', { name: /^Tokens per second, now \d/ }).waitFor();

        await checkAccessibility(page);
        await screenshot('console-live');

        await page.getByRole('button', { name: 'Pause' }).click();
        const paused = await tokens();
        const ended = await narrow.count();
        await page.waitForTimeout(2_500);
        assert.equal(await tokens(), paused);
        assert.equal(await narrow.count(), ended);
        await page.getByRole('button', { name: 'Paused: resume' }).click();
        await eventually(async () => (await tokens()) > paused, 'the view goes on');

        const chosen = narrow.nth(1).getByRole('button');
        const id = (await chosen.innerText()).replace('Timeline of ', '');
        await chosen.press('Enter');
        const dialog = page.getByRole('dialog', { name: 'Request', exact: true });
        await dialog.getByRole('cell', { name: 'Admitted' }).waitFor();
        await dialog.getByRole('cell', { name: 'First byte sent' }).waitFor();
        await dialog.getByRole('cell', { name: 'Streaming …' }).waitFor();
        await checkAccessibility(page);
        await screenshot('console-request');
        await dialog.getByRole('button', { name: 'Cancel the request' }).click();
        const confirm = page.getByRole('dialog', { name: 'Cancel this request?' });
        await confirm.getByRole('button', { name: 'Keep it' }).click();
        await dialog.getByRole('cell', { name: 'Streaming …' }).waitFor();
        await dialog.getByRole('button', { name: 'Cancel the request' }).click();
        await confirm.getByRole('button', { name: 'Cancel it' }).click();
        await dialog.getByRole('cell', { name: 'Billed, after the stream' }).waitFor();
        await dialog.getByRole('cell', { name: 'Last byte sent' }).waitFor();
        assert.equal(await dialog.getByRole('button', { name: 'Cancel the request' }).count(), 0);
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
        await page.getByRole('table', { name: 'Requests that ended last' }).getByText(id).waitFor();
        await eventually(
          () => streams.texts.find((text) => text.includes('The request was cancelled by an operator')),
          'its client reads why',
        );
        await eventually(async () => (await narrow.getByText(id).count()) === 0, 'its row is gone');
      } finally {
        streams.end();
      }
    });
  },

  'the live view says that its feed broke, and connects again': async ({ page, context, signIn }) => {
    let requests = 0;
    await context.route('**/admin/v1/live?*', async (route) => {
      if (++requests > 1) return route.fallback();
      // One that ends at once, as when a proxy gives up.
      return route.fulfill({ contentType: 'text/event-stream', body: ': nothing\n\n' });
    });
    await signIn();
    await page.getByText('The gateway ended the stream of snapshots.').waitFor();
    await page.getByRole('table', { name: 'Engines and their replicas' }).waitFor();
    await page.getByText('The gateway ended the stream of snapshots.').waitFor({ state: 'detached' });
    assert.equal(requests, 2);
  },
};

export default scenarios;
