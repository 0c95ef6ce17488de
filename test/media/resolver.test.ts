/** Tests host names of clients' URLs: a real resolver against a name server that answers, denies or says nothing. */
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { promisify } from 'node:util';
import t from 'tap';
import { createLookup, type Lookup } from '../../src/media/resolver.ts';
import { patiently } from '../eventually.ts';
import { startNameServer } from './name-server.ts';

const resolved = (lookup: Lookup, name: string): Promise<LookupAddress[] | string> =>
  new Promise((resolve) =>
    lookup(name, { all: true }, (error, addresses) =>
      resolve(error === null ? addresses : String(error.code)),
    ),
  );

t.test('answers are kept for as long as they hold', async (t) => {
  const server = await startNameServer({
    'pictures.test': { a: ['192.0.2.1', '192.0.2.2'], ttl: 60 },
    'brief.test': { a: ['192.0.2.3'], ttl: 0 },
    'long.test': { a: ['192.0.2.4'], ttl: 86_400 },
  });
  t.teardown(server.close);
  let now = 0;
  const lookup = createLookup({ servers: [server.address] }, () => now);
  const both = [
    { address: '192.0.2.1', family: 4 },
    { address: '192.0.2.2', family: 4 },
  ];
  t.same(
    await Promise.all([resolved(lookup, 'pictures.test'), resolved(lookup, 'Pictures.TEST')]),
    [both, both],
    'asked for once',
  );
  t.same([...server.asked].sort(), ['A pictures.test', 'AAAA pictures.test']);
  now = 59_999;
  await resolved(lookup, 'pictures.test');
  t.equal(server.asked.length, 2, 'from the cache');
  now = 60_001;
  await resolved(lookup, 'pictures.test');
  t.equal(server.asked.length, 4, 'again');
  await resolved(lookup, 'brief.test');
  await resolved(lookup, 'brief.test');
  t.equal(server.asked.length, 6, 'never shorter than a second');
  await resolved(lookup, 'long.test');
  now += 300_001;
  await resolved(lookup, 'long.test');
  t.equal(server.asked.length, 10, 'never longer than five minutes');
});

t.test('unknown names, and servers that do not answer', async (t) => {
  const server = await startNameServer({ 'silent.test': 'silent' });
  t.teardown(server.close);
  let now = 0;
  const lookup = createLookup({ servers: [server.address], timeout: 50, tries: 2 }, () => now);
  t.equal(await resolved(lookup, 'missing.test'), 'ENOTFOUND');
  const before = server.asked.length;
  t.equal(await resolved(lookup, 'missing.test'), 'ENOTFOUND');
  t.equal(server.asked.length, before, 'a failure is remembered');
  now = 10_001;
  t.equal(await resolved(lookup, 'missing.test'), 'ENOTFOUND');
  t.ok(server.asked.length > before, 'for ten seconds');
  t.equal(await resolved(lookup, 'silent.test'), 'ETIMEOUT');
});

t.test('names without an answer keep nobody from a thread', async (t) => {
  const names = Array.from({ length: 200 }, (_, index) => `host${index}.test`);
  const server = await startNameServer(Object.fromEntries(names.map((name) => [name, 'silent'] as const)));
  t.teardown(server.close);
  const lookup = createLookup({ servers: [server.address], timeout: patiently(1_000), tries: 1 });
  const waiting = names.map((name) => resolved(lookup, name));
  const started = performance.now();
  await promisify(systemLookup)('localhost');
  t.ok(performance.now() - started < patiently(500), 'the system resolves at once');
  t.same([...new Set(await Promise.all(waiting))], ['ETIMEOUT']);
});
