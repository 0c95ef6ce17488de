/** Tests replicas that are found by DNS: with a name server of our own, and with dnsmasq. */
import t from 'tap';
import { addressesOf } from '../../src/engines/discovery/discover.ts';
import { type DnsOptions, watchDns } from '../../src/engines/discovery/dns.ts';
import { parseSource, type Source } from '../../src/engines/discovery/source.ts';
import { silent } from '../engines/collect.ts';
import { startNameServer, type Zone } from '../media/name-server.ts';
import { dnsMissing, startDns } from '../services/dns.ts';
import { Followed } from './followed.ts';

const follow = (text: string, options: DnsOptions) =>
  new Followed(
    watchDns(parseSource(text) as Extract<Source, { kind: 'dns' | 'srv' }>, {
      search: () => ({ domains: ['svc.cluster.test'], dots: 5 }),
      shortestMs: 20,
      longestMs: 100,
      ...options,
    }),
  );

t.test('addresses of a name, as they change', async (t) => {
  const zone: Record<string, Zone[string]> = {
    'vllm.default.svc.cluster.test': { a: ['127.0.0.1', '127.0.0.2'], ttl: 0 },
  };
  const server = await startNameServer(zone);
  t.teardown(() => server.close());
  const followed = follow('dns+http://vllm.default:8000/v1', { servers: [server.address] });
  t.teardown(() => followed.stop());

  await followed.becomes(['http://127.0.0.1:8000/v1', 'http://127.0.0.2:8000/v1']);
  t.strictSame(followed.addresses.at(-1)?.[0], {
    url: 'http://127.0.0.1:8000/v1',
    host: 'vllm.default:8000',
  });
  zone['vllm.default.svc.cluster.test'] = { a: ['127.0.0.2', '127.0.0.3'], ttl: 0 };
  await followed.becomes(['http://127.0.0.2:8000/v1', 'http://127.0.0.3:8000/v1']);
  delete zone['vllm.default.svc.cluster.test'];
  await followed.becomes([]);
  t.equal(server.asked.includes('A vllm.default'), true, 'the name itself is asked for last');
});

t.test('a server that does not answer says nothing about replicas', async (t) => {
  const server = await startNameServer({ vllm: 'silent' });
  t.teardown(() => server.close());
  const followed = follow('dns+http://vllm:8000', {
    servers: [server.address],
    search: () => ({ domains: [], dots: 1 }),
  });
  t.teardown(() => followed.stop());
  await t.resolves(
    new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        if (followed.error === undefined) return;
        clearInterval(timer);
        resolve();
      }, 20);
    }),
  );
  t.strictSame(followed.seen, []);
  t.match(followed.error, { code: 'ETIMEOUT' });
});

t.test('dnsmasq: addresses and services', { skip: dnsMissing() ?? false }, async (t) => {
  const dns = await startDns();
  t.teardown(() => dns.stop());
  const servers = [dns.address];
  await dns.serve([
    '--host-record=vllm.default.svc.cluster.test,127.0.0.1,::1',
    '--host-record=vllm.default.svc.cluster.test,127.0.0.2',
    '--host-record=big.test,127.0.0.5',
    '--host-record=small.test,127.0.0.6',
    '--host-record=spare.test,127.0.0.7',
    '--srv-host=_http._tcp.models.svc.cluster.test,big.test,8000,1,30',
    '--srv-host=_http._tcp.models.svc.cluster.test,small.test,8001,1,10',
    '--srv-host=_http._tcp.models.svc.cluster.test,spare.test,8002,2,10',
  ]);
  const options = { servers, search: () => ({ domains: ['svc.cluster.test'], dots: 5 }), shortestMs: 20 };
  const named = new Followed(addressesOf('dns+http://vllm.default:8000/v1', { dns: options }, silent));
  const services = follow('dns+http://_http._tcp.models/v1', { servers });
  t.teardown(() => named.stop());
  t.teardown(() => services.stop());

  await named.becomes(['http://127.0.0.1:8000/v1', 'http://127.0.0.2:8000/v1', 'http://[::1]:8000/v1']);
  await services.becomes(['http://127.0.0.5:8000/v1', 'http://127.0.0.6:8001/v1']);
  t.strictSame(
    [...(services.addresses.at(-1) ?? [])].sort((one, other) => one.url.localeCompare(other.url)),
    [
      { url: 'http://127.0.0.5:8000/v1', host: 'big.test:8000', weight: 30 },
      { url: 'http://127.0.0.6:8001/v1', host: 'small.test:8001', weight: 10 },
    ],
    'of the lowest priority, by their weights',
  );
  // Restarted, so for a moment nothing listens there.
  await dns.serve(['--host-record=vllm.default.svc.cluster.test,127.0.0.4']);
  await named.becomes(['http://127.0.0.4:8000/v1']);
});
