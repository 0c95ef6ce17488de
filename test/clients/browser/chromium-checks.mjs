/** Checks in a page: streams read by `fetch` from another origin, and by an `EventSource` whose connection breaks. */
import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import { chromium } from 'playwright-core';

const { SLUICE_URL: gateway, SLUICE_KEY: key, BROWSER: executablePath } = process.env;

/** Bytes after which a connection to a stream is cut. */
const cutAfter = 4000;
const lastEventIds = [];

/** Serves the page, and streams with the key that an `EventSource` cannot send. */
const site = createServer((incoming, outgoing) => {
  if (incoming.url === '/') {
    outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Checks</title>');
    return;
  }
  const lastEventId = incoming.headers['last-event-id'];
  lastEventIds.push(lastEventId);
  const headers = {
    authorization: `Bearer ${key}`,
    ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
  };
  request(gateway + incoming.url, { headers }, (response) => {
    outgoing.writeHead(response.statusCode, response.headers);
    let left = cutAfter;
    response.on('data', (piece) => {
      if (left <= 0) return;
      outgoing.write(piece.subarray(0, left));
      left -= piece.length;
      if (left > 0) return;
      response.destroy();
      // What was written goes out first.
      setTimeout(() => outgoing.destroy(), 20);
    });
    response.on('end', () => outgoing.end());
  }).end();
});
await new Promise((resolve) => site.listen(0, '127.0.0.1', resolve));

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const page = await browser.newPage();
await page.goto(`http://127.0.0.1:${site.address().port}/`);
await page.evaluate(
  (given) => {
    globalThis.post = (body, headers, signal) =>
      fetch(`${given.gateway}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${given.key}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model: 'sluice/chat', stream: true, ...body }),
        signal,
      });
    globalThis.contentOf = (events) =>
      events
        .filter((data) => data !== '[DONE]')
        .map((data) => JSON.parse(data).choices[0]?.delta?.content ?? '')
        .join('');
    globalThis.eventsOf = (text) => [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data);
  },
  { gateway, key },
);

const body = { messages: [{ role: 'user', content: '/sim tokens=60 seed=9 rate=200' }] };

const checks = {
  'fetch: a stream from another origin, and the headers that a page may read': async () => {
    const seen = await page.evaluate(async (body) => {
      const response = await post(body, {});
      const { headers, status } = response;
      const events = eventsOf(await response.text());
      return {
        status,
        exposed: ['x-request-id', 'x-sluice-queue-ms', 'x-ratelimit-limit-requests'].map((name) =>
          headers.has(name),
        ),
        last: events.at(-1),
        text: contentOf(events),
      };
    }, body);
    assert.deepEqual(
      { ...seen, text: seen.text.length > 60 },
      { status: 200, exposed: [true, true, true], last: '[DONE]', text: true },
    );
  },

  'fetch: an error is readable': async () => {
    const error = await page.evaluate(async () => {
      const response = await post({ messages: [] }, {});
      return { status: response.status, ...(await response.json()) };
    });
    assert.equal(error.status, 400);
    assert.match(error.error.message, /messages/);
  },

  'EventSource: reads on after every break, each event once, and stops at the end': async () => {
    const seen = await page.evaluate(async (body) => {
      const undisturbed = contentOf(eventsOf(await (await post(body, {})).text()));
      const leaving = new AbortController();
      const response = await post(body, { 'sluice-resumable': '60' }, leaving.signal);
      const id = response.headers.get('x-stream-id');
      await response.body.getReader().read();
      leaving.abort();
      const ids = [];
      const events = [];
      const source = new EventSource(`/streams/${id}`);
      source.onmessage = ({ lastEventId, data }) => {
        ids.push(Number(lastEventId));
        events.push(data);
      };
      await new Promise((resolve) => {
        source.onerror = () => source.readyState === EventSource.CLOSED && resolve();
      });
      return { undisturbed, text: contentOf(events), ids, last: events.at(-1) };
    }, body);
    assert.equal(seen.text, seen.undisturbed);
    assert.equal(seen.last, '[DONE]');
    assert.deepEqual(
      seen.ids,
      seen.ids.map((_, index) => index),
    );
    assert.ok(lastEventIds.length > 4, `${lastEventIds.length} connections`);
    assert.equal(lastEventIds.at(-1), String(seen.ids.length - 1));
  },
};

try {
  for (const [check, run] of Object.entries(checks)) {
    const begun = performance.now();
    const problem = await run().then(
      () => null,
      (error) => String(error.stack).slice(0, 4000),
    );
    console.log(JSON.stringify({ check, seconds: (performance.now() - begun) / 1000, problem }));
  }
} finally {
  await browser.close();
  site.closeAllConnections();
  site.close();
}
