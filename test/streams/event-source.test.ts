/** An EventSource as browsers have it reads a stream whose connection breaks again and again. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { EventSource } from 'undici';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { ask, contentOf, eventsOf, idOf, leaveAfter, say, send } from './client.ts';

/** Passes requests on with a key, which EventSource cannot send, and cuts each response after some bytes. */
const breakingProxy = async (target: string, key: string, bytes: number) => {
  const asked: (string | undefined)[] = [];
  const server = createServer((incoming, outgoing) => {
    asked.push(incoming.headers['last-event-id'] as string | undefined);
    const { host: _, ...headers } = incoming.headers;
    request(
      `${target}${incoming.url}`,
      { headers: { ...headers, authorization: `Bearer ${key}` } },
      (response) => {
        outgoing.writeHead(response.statusCode ?? 0, response.headers);
        let left = bytes;
        response.on('data', (piece: Buffer) => {
          if (left <= 0) return;
          outgoing.write(piece.subarray(0, left));
          left -= piece.length;
          if (left > 0) return;
          response.destroy();
          // What was written goes out first.
          setTimeout(() => outgoing.destroy(), 20);
        });
        response.on('end', () => outgoing.end());
      },
    ).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    asked,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

t.test('reconnects with Last-Event-ID until there is no more, and then stops', async (t) => {
  const gateway = await startGateway();
  const body = { model: 'sluice/chat', messages: say('/sim tokens=60 seed=9 rate=200'), stream: true };
  const undisturbed = contentOf(eventsOf((await ask(gateway, 'POST', '/chat/completions', { body })).text));
  const sent = await send(gateway, 'POST', '/chat/completions', {
    body,
    headers: { 'sluice-resumable': '60' },
  });
  const proxy = await breakingProxy(gateway.url, gateway.key, 4000);
  t.teardown(async () => {
    proxy.stop();
    await gateway.stop();
  });
  await leaveAfter(sent, 1);

  const ids: number[] = [];
  const data: string[] = [];
  const source = new EventSource(`${proxy.url}/streams/${idOf(sent)}`, { node: { reconnectionTime: 20 } });
  source.onmessage = ({ lastEventId, data: text }) => {
    ids.push(Number(lastEventId));
    data.push(`data: ${text}\n\n`);
  };
  await eventually(() => source.readyState === EventSource.CLOSED, 'it stops by itself', 60);
  t.equal(contentOf(data), undisturbed);
  t.equal(data.at(-1), 'data: [DONE]\n\n');
  t.strictSame(
    ids,
    ids.map((_, index) => index),
    'each event once, in order',
  );
  t.ok(proxy.asked.length > 4, `${proxy.asked.length} connections`);
  t.equal(proxy.asked.at(-1), String(ids.length - 1), 'the last one was told that there is no more');
});
