/** Tests replicas that are found in EndpointSlices, against an API server with lists, watches and bookmarks. */
import t, { type Test } from 'tap';
import { addressesOf } from '../../src/engines/discovery/discover.ts';
import { silent } from '../engines/collect.ts';
import { eventually } from '../eventually.ts';
import { ApiServer } from './api-server.ts';
import { Followed } from './followed.ts';

const start = async (t: Test, api: ApiServer, source = 'k8s+http://vllm.default:http/v1') => {
  const cluster = await api.start();
  t.teardown(() => api.stop());
  const followed = new Followed(addressesOf(source, { cluster }, silent));
  t.teardown(() => followed.stop());
  return followed;
};

const urls = (...hosts: readonly number[]) => hosts.map((host) => `http://10.0.0.${host}:8000/v1`);

t.test('ready endpoints join, others leave', async (t) => {
  const api = new ApiServer();
  api.put('vllm-a', [{ ip: '10.0.0.1' }, { ip: '10.0.0.2', ready: false }, { ip: '10.0.0.3', ready: null }]);
  const followed = await start(t, api);
  await followed.becomes(urls(1, 3));
  t.strictSame(followed.addresses.at(-1)?.[0], { url: 'http://10.0.0.1:8000/v1', host: 'vllm.default.svc' });

  api.put('vllm-a', [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }, { ip: '10.0.0.3', terminating: true }]);
  await followed.becomes(urls(1, 2));
  api.put('vllm-b', [{ ip: '10.0.0.2' }, { ip: '10.0.0.4' }]);
  await followed.becomes(urls(1, 2, 4));
  api.put('vllm-c', [{ ip: '10.0.0.9' }], [{ name: 'metrics', port: 9090 }]);
  api.delete('vllm-a');
  await followed.becomes(urls(2, 4));
  t.strictSame(api.asked, ['list', 'watch 101']);
});

t.test('a watch that ends is continued where it was', async (t) => {
  const api = new ApiServer();
  api.put('vllm-a', [{ ip: '10.0.0.1' }]);
  const followed = await start(t, api);
  await followed.becomes(urls(1));
  await eventually(() => api.asked.length === 2, 'the watch runs', 10);
  api.bookmark();
  api.endWatches();
  api.put('vllm-a', [{ ip: '10.0.0.2' }]);
  await followed.becomes(urls(2));
  t.strictSame(api.asked, ['list', 'watch 101', 'watch 111']);
});

t.test('a version that is too old is listed again', async (t) => {
  const api = new ApiServer();
  api.pageSize = 1;
  api.put('vllm-a', [{ ip: '10.0.0.1' }]);
  api.put('vllm-b', [{ ip: '10.0.0.2' }]);
  const followed = await start(t, api);
  await followed.becomes(urls(1, 2));
  await eventually(() => api.asked.includes('watch 102'), 'the watch runs', 10);
  api.forget(true);
  api.delete('vllm-a');
  await followed.becomes(urls(2));
  await eventually(() => api.asked.length === 5, 'the watch runs again', 10);
  t.strictSame(api.asked.slice(0, 4), ['list', 'list', 'watch 102', 'list'], 'two pages, then one');
});

t.test('an API server that fails changes nothing, and is asked again with the new token', async (t) => {
  const api = new ApiServer();
  api.put('vllm-a', [{ ip: '10.0.0.1' }]);
  const followed = await start(t, api);
  await followed.becomes(urls(1));
  await eventually(() => api.asked.length === 2, 'the watch runs', 10);
  api.rotateToken('second');
  api.put('vllm-a', [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }]);
  api.forget(false);
  await followed.becomes(urls(1, 2));
  t.equal(followed.error, undefined);
  t.strictSame(followed.seen, [urls(1), urls(1, 2)]);
});

t.test('ports by number, or the only one', async (t) => {
  for (const source of ['k8s+http://vllm.default.svc.cluster.local:8000/v1', 'k8s+http://vllm.default/v1']) {
    const api = new ApiServer();
    api.put('vllm-a', [{ ip: '10.0.0.1' }]);
    const followed = await start(t, api, source);
    await followed.becomes(urls(1));
    followed.stop();
  }
});

t.test('outside a cluster', async (t) => {
  t.throws(() => addressesOf('k8s+http://vllm.default/v1', {}, silent), {
    message: 'needs a Kubernetes cluster: KUBERNETES_SERVICE_HOST is not set',
  });
});
