/** Tests the fallback when the uWebSockets.js binary cannot be loaded, and which binary is installed. */
import { readFileSync } from 'node:fs';
import { of } from 'rxjs';
import t from 'tap';
import { open, text } from '../contracts/edge/probe.ts';
import { startEdge } from '../http/edge-fixture.ts';
import { request } from '../http/raw-client.ts';

const hello = open('GET', '/hello', () => of(text('hello')));

t.test('the same routes on node:http, with a log line', async (t) => {
  // The library picks its binary by these; there is none for this machine.
  t.intercept(process, 'arch', { value: 'pdp11' });
  await t.rejects(startEdge(t, 'uws', [hello]), { message: /This version of uWS.js supports only/ });
  const { client, edge, log } = await startEdge(t, 'uws', [hello], {}, { edge: 'auto' });
  t.equal(edge.name, 'node');
  t.equal((await (await client()).send(request('GET', '/v1/hello')).response()).body, 'hello');
  const warnings = log.filter(({ level }) => level === 40);
  t.match(warnings, [
    {
      msg: 'uWebSockets.js cannot be loaded here; serving with node:http instead',
      reason: /^Error: Cannot find module '.\/uws_.*pdp11/,
    },
  ]);
  t.equal(warnings.length, 1);
});

t.test('the package is the one that was compared with the official release', async (t) => {
  const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as {
    packages: Record<string, unknown>;
  };
  t.match(lock.packages['node_modules/uWebSockets.js'], {
    name: 'uwebsockets',
    version: '3.0.6',
    integrity:
      'sha512-0Nw22DDOd1YGnJ8/IHYVCDHZXAVqLnjBxktl2bSjcJRVcgasb2Zs8WCRhL41IydraLLq001c6ycHdIS+rEcAxw==',
  });
});

t.test('uWebSockets.js where it loads', async (t) => {
  // Not before: once loaded, it stays.
  const { servers } = await import('../http/servers.ts');
  const { edge, client } = await startEdge(t, 'uws', [hello], {}, { edge: 'auto' });
  t.equal(edge.name, servers[0].skip === false ? 'uws' : 'node');
  t.equal((await (await client()).send(request('GET', '/v1/hello')).response()).body, 'hello');
});
