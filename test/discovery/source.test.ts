/** Tests what `replicas` may say beside a list, and how names are completed. */
import t from 'tap';
import { candidates, parseSearch } from '../../src/engines/discovery/names.ts';
import { parseSource } from '../../src/engines/discovery/source.ts';

t.test('sources', async (t) => {
  t.strictSame(parseSource('dns+http://vllm.default.svc:8000/v1/'), {
    kind: 'dns',
    scheme: 'http',
    name: 'vllm.default.svc',
    port: 8000,
    path: '/v1',
  });
  t.strictSame(parseSource('dns+https://vllm.example.com'), {
    kind: 'dns',
    scheme: 'https',
    name: 'vllm.example.com',
    port: 443,
    path: '',
  });
  t.strictSame(parseSource('dns+http://_http._tcp.vllm.default.svc/v1'), {
    kind: 'srv',
    scheme: 'http',
    name: '_http._tcp.vllm.default.svc',
    path: '/v1',
  });
  t.strictSame(parseSource('file:/etc/sluice/replicas.yaml'), {
    kind: 'file',
    file: '/etc/sluice/replicas.yaml',
  });
  t.strictSame(parseSource('k8s+http://vllm.default:http/v1'), {
    kind: 'kubernetes',
    scheme: 'http',
    name: 'vllm',
    namespace: 'default',
    port: 'http',
    path: '/v1',
  });
  t.strictSame(parseSource('k8s+https://vllm.models.svc.cluster.local'), {
    kind: 'kubernetes',
    scheme: 'https',
    name: 'vllm',
    namespace: 'models',
    path: '',
  });
  for (const bad of [
    '',
    'http://vllm:8000/v1',
    'dns+ftp://vllm',
    'dns+http://',
    'dns+http://user@vllm/v1',
    'dns+http://vllm:8000/v1?x=1',
    'dns+http://_http._udp.vllm.svc/v1',
    'k8s+http://vllm/v1',
    'k8s+http://vllm.default:a_b/v1',
    'file:',
  ])
    t.throws(
      () => parseSource(bad),
      { message: /^must be a list of addresses, or a source such as dns\+http/ },
      bad,
    );
  t.throws(() => parseSource('dns+http://vllm:70000'), {
    message: 'names the port 70000, which does not exist',
  });
});

t.test('names are completed by search domains', async (t) => {
  const cluster = parseSearch(
    'nameserver 10.96.0.10\nsearch default.svc.cluster.local svc.cluster.local cluster.local # ours\noptions ndots:5 edns0\n',
  );
  t.strictSame(cluster, {
    domains: ['default.svc.cluster.local', 'svc.cluster.local', 'cluster.local'],
    dots: 5,
  });
  t.strictSame(candidates('vllm.default.svc', cluster), [
    'vllm.default.svc.default.svc.cluster.local',
    'vllm.default.svc.svc.cluster.local',
    'vllm.default.svc.cluster.local',
    'vllm.default.svc',
  ]);
  t.strictSame(candidates('vllm.example.com.', cluster), ['vllm.example.com']);
  const plain = parseSearch('domain example.com.\n');
  t.strictSame(candidates('vllm', plain), ['vllm.example.com', 'vllm']);
  t.strictSame(candidates('vllm.lan', plain), ['vllm.lan', 'vllm.lan.example.com']);
  t.strictSame(parseSearch(''), { domains: [], dots: 1 });
});
