/** Real gateways and engines as pods: placement, discovery, rollouts under load, drains, reloads, evictions and autoscaling. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import { eventually } from '../eventually.ts';
import { startRedis } from '../services/redis.ts';
import type { ApiObject } from './api.ts';
import type { Checks } from './check.ts';
import { release } from './cluster-admission.ts';
import type { ControlPlane } from './control-plane.ts';
import { startCustomMetrics } from './custom-metrics.ts';
import { engineManifests, setEngineReplicas } from './engine.ts';
import { type Load, readyAddresses, startLoad } from './load.ts';
import { type Node, type NodeEvent, startNode } from './node.ts';

const namespace = 'live';
const key = 'sk-live-0123456789abcdef';
const [drainSeconds, preStopSeconds] = [20, 3];

const model = (id: string) => ({ [id]: { engine: 'pool-a', context_length: 32_768 } });

const valuesOf = (redisUrl: string, models: object, gateway: object = {}) => ({
  catalog: stringify({
    engines: { 'pool-a': { wire: 'openai', replicas: 'k8s+http://vllm.models:http/v1', slow_start: '0ms' } },
    models,
  }),
  discovery: { namespaces: ['models'] },
  settings: { REDIS_URL: redisUrl, LOG_LEVEL: 'info' },
  secret: { create: { SLUICE_BOOTSTRAP_KEY: key } },
  gateway: {
    replicas: 2,
    ...{ drainSeconds, preStopSeconds },
    topologySpread: [
      { topologyKey: 'topology.kubernetes.io/zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' },
    ],
    ...gateway,
  },
});

interface PodObject extends ApiObject {
  readonly spec: { readonly nodeName?: string };
}

export const checkRollouts = async (
  { check }: Checks,
  plane: ControlPlane,
  folder: string,
): Promise<void> => {
  const { api } = plane;
  const redis = await startRedis({ own: true });
  const nodes: Node[] = [];
  for (const name of ['a', 'b']) {
    const own = join(folder, `node-${name}`);
    mkdirSync(own);
    nodes.push(
      await startNode(api, {
        name: `node-${name}`,
        zone: `zone-${name}`,
        folder: own,
        namespaces: [namespace, 'models'],
      }),
    );
  }
  const events = (): readonly NodeEvent[] => nodes.flatMap(({ log }) => log).sort((a, b) => a.at - b.at);
  const gateways = (): Promise<readonly PodObject[]> =>
    api.list(`/api/v1/namespaces/${namespace}/pods?labelSelector=app.kubernetes.io/component%3Dgateway`);
  const names = async () => (await gateways()).map(({ metadata }) => metadata.name).sort();
  const addresses = () => readyAddresses(api, namespace, 'sluice');
  const outputs = (): string =>
    nodes.flatMap(({ pods }) => [...pods.values()].map((pod) => `${pod.name}:\n${pod.output()}`)).join('\n');
  const install = async (models: object, gateway?: object): Promise<void> => {
    const file = join(folder, 'live.yaml');
    writeFileSync(file, stringify(valuesOf(redis.url, models, gateway)));
    await release(plane, namespace, file);
  };
  const loaded = async (run: (load: Load) => Promise<void>): Promise<Load> => {
    const load = startLoad(api, {
      namespace,
      service: 'sluice',
      key,
      model: 'acme/writer',
      clients: 6,
      tokens: 250,
    });
    try {
      await eventually(() => load.whole >= 6 || load.failures.length > 0, 'streams run', 60);
      await run(load);
      // What happens in the last moments is seen too.
      await delay(1000);
    } finally {
      await load.stop();
    }
    assert.deepEqual(load.failures, [], outputs().slice(-4000));
    return load;
  };

  try {
    await check('pods start: gateways in both zones, replicas found by their own token', async () => {
      for (const manifest of engineManifests(2)) assert.deepEqual(await api.apply(manifest), []);
      await install(model('acme/writer'));
      await eventually(async () => (await addresses()).length === 2, 'two gateways are ready', 120).catch(
        (error) => {
          throw new Error(`${error}\n${outputs().slice(-4000)}`);
        },
      );
      const places = (await gateways()).map(({ spec }) => spec.nodeName).sort();
      assert.deepEqual(places, ['node-a', 'node-b']);
      const load = await loaded(async () => undefined);
      assert.equal(load.served.size, 2);
    });

    await check(
      'a rollout under load: no stream fails, each gateway drains within its grace period',
      async () => {
        const old = await names();
        const load = await loaded(async () => {
          await install(model('acme/writer'), { podAnnotations: { 'example.com/revision': '2' } });
          await eventually(
            async () => {
              const now = await names();
              return now.length === 2 && old.every((name) => !now.includes(name));
            },
            'all gateways are replaced',
            240,
          );
        });
        console.log(`         ${load.whole} streams, ${load.failures.length} failed`);
        checkOrder(events(), old, await names());
      },
    );

    await check('engines come and go under load: gateways follow', async () => {
      const load = await loaded(async () => {
        for (const replicas of [4, 1, 2]) {
          await setEngineReplicas(api, replicas);
          await eventually(
            async () => (await readyAddresses(api, 'models', 'vllm')).length === replicas,
            `${replicas} engines`,
            120,
          );
          for (const address of await addresses())
            await eventually(
              async () => (await replicasSeenBy(address)) === replicas,
              `${address} has ${replicas}`,
              30,
            );
          await delay(2500);
        }
      });
      console.log(`         ${load.whole} streams, ${load.failures.length} failed`);
    });

    await check('a changed catalog is reloaded, and no pod is replaced', async () => {
      const before = await names();
      await install(
        { ...model('acme/writer'), ...model('acme/second') },
        { podAnnotations: { 'example.com/revision': '2' } },
      );
      for (const address of await addresses())
        await eventually(
          async () => (await modelsOf(address)).includes('acme/second'),
          'the second model',
          60,
        );
      assert.deepEqual(await names(), before);
    });

    await check('a drain of nodes: one gateway at a time, and no stream fails', async () => {
      const before = await names();
      await loaded(async () => {
        const evict = async (name: string | undefined) =>
          (
            await api.call('POST', `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, {
              metadata: { name, namespace },
            })
          ).status;
        await eventually(async () => (await evict(before[0])) === 201, 'the first is evicted', 30);
        assert.equal(await evict(before[1]), 429, 'the second is not, until another is ready');
        await eventually(async () => (await evict(before[1])) === 201, 'then it is', 120);
        await eventually(
          async () => !(await names()).some((name) => before.includes(name)),
          'both are replaced',
          120,
        );
        await eventually(async () => (await addresses()).length === 2, 'two are ready', 120);
      });
    });

    await check('the autoscaler adds a gateway for streams in flight', async () => {
      const adapter = await startCustomMetrics(api, plane.certificates);
      try {
        const autoscaling = { enabled: true, minReplicas: 2, maxReplicas: 3, inFlight: 2, queued: 1000 };
        await install(model('acme/writer'), { autoscaling });
        const path = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers/sluice-gateway`;
        let status: AutoscalerStatus | undefined;
        const load = await loaded(async () => {
          await eventually(
            async () => {
              ({ status } = await api.get<{ readonly status?: AutoscalerStatus }>(path));
              return status?.desiredReplicas === 3;
            },
            'three gateways are wanted',
            120,
          ).catch((error: unknown) => {
            throw new Error(`${error} ${JSON.stringify(status)}`);
          });
          await eventually(async () => (await addresses()).length === 3, 'three gateways are ready', 120);
        });
        assert.deepEqual(
          status?.currentMetrics?.map(({ pods }) => pods?.metric.name),
          ['sluice_http_in_flight', 'sluice_requests_queued'],
        );
        assert.equal(load.failures.length, 0);
      } finally {
        adapter.close();
      }
    });
  } finally {
    for (const node of nodes) await node.stop();
    await redis.stop();
  }
};

interface AutoscalerStatus {
  readonly desiredReplicas: number;
  readonly currentMetrics?: readonly { readonly pods?: { readonly metric: { readonly name: string } } }[];
}

/** Each successor is ready before a predecessor stops, which exits by itself after preStop and drain. */
const checkOrder = (
  events: readonly NodeEvent[],
  old: readonly string[],
  successors: readonly string[],
): void => {
  const at = (pod: string, what: NodeEvent['what']): number => {
    const found = events.find((event) => event.pod === pod && event.what === what);
    assert.ok(found !== undefined, `${pod} was ${what}: ${JSON.stringify(events)}`);
    return found.at;
  };
  const ready = successors.map((name) => at(name, 'ready')).sort((a, b) => a - b);
  const stopping = old.map((name) => at(name, 'stopping')).sort((a, b) => a - b);
  stopping.forEach((time, index) => {
    assert.ok((ready[index] ?? Number.POSITIVE_INFINITY) < time, `successor ${index} was ready first`);
  });
  for (const name of old) {
    const waited = (at(name, 'terminated') - at(name, 'stopping')) / 1000;
    assert.ok(waited >= preStopSeconds - 0.1, `preStop took ${waited} s`);
    const drained = (at(name, 'exited') - at(name, 'terminated')) / 1000;
    assert.ok(drained < drainSeconds + 5, `the drain took ${drained} s`);
    assert.equal(events.find((event) => event.pod === name && event.what === 'exited')?.code, 0);
    console.log(
      `         ${name}: preStop ${waited.toFixed(1)} s, drain ${drained.toFixed(1)} s, exit code 0`,
    );
  }
};

const modelsOf = async (address: string): Promise<readonly string[]> => {
  const reply = await fetch(`${address}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  return ((await reply.json()) as { readonly data: readonly { readonly id: string }[] }).data.map(
    ({ id }) => id,
  );
};

/** By its own metrics. */
const replicasSeenBy = async (address: string): Promise<number> => {
  const text = await (await fetch(`${address.replace(':8787', ':9787')}/metrics`)).text();
  return text.split('\n').filter((line) => line.startsWith('sluice_replica_up{engine="pool-a"')).length;
};
