/** A node that runs pods as processes: volumes, variables, probes, preStop, SIGTERM and the grace period as a kubelet does it. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Api, ApiObject } from './api.ts';
import type { Pod } from './pod.ts';
import { type RunningPod, startPod } from './running-pod.ts';

export interface Node {
  /** What became of each pod, in order. */
  readonly log: readonly NodeEvent[];
  readonly pods: ReadonlyMap<string, RunningPod>;
  stop(): Promise<void>;
}

export interface NodeEvent {
  readonly pod: string;
  readonly what: 'started' | 'ready' | 'unready' | 'stopping' | 'terminated' | 'killed' | 'exited';
  readonly at: number;
  readonly code?: number | null;
}

let lastAddress = 0;

/** In the network of this process every pod has an address of its own. */
const nextAddress = (): string => {
  lastAddress++;
  return `10.244.${Math.floor(lastAddress / 250)}.${1 + (lastAddress % 250)}`;
};

interface NodeOptions {
  readonly name: string;
  readonly zone: string;
  readonly folder: string;
  /** Pods of others stay as they are. */
  readonly namespaces: readonly string[];
}

export const startNode = async (api: Api, { name, zone, folder, namespaces }: NodeOptions): Promise<Node> => {
  await registerNode(api, name, zone);
  const log: NodeEvent[] = [];
  const pods = new Map<string, RunningPod>();
  let stopped = false;

  const look = async (): Promise<void> => {
    const assigned = await api.list<Pod & ApiObject>(`/api/v1/pods?fieldSelector=spec.nodeName=${name}`);
    for (const pod of assigned) {
      const { uid = '' } = pod.metadata;
      const running = pods.get(uid);
      if (!namespaces.includes(pod.metadata.namespace)) continue;
      if (running === undefined && pod.metadata.deletionTimestamp === undefined) {
        const note = (what: NodeEvent['what'], code?: number | null) =>
          void log.push({
            pod: pod.metadata.name,
            what,
            at: performance.now(),
            ...(code !== undefined && { code }),
          });
        pods.set(uid, await startPod({ api, pod, address: nextAddress(), folder: join(folder, uid), note }));
      } else if (pod.metadata.deletionTimestamp !== undefined) void running?.terminate();
      else await running?.refresh();
    }
    for (const [uid, running] of pods)
      if (running.gone) {
        pods.delete(uid);
        rmSync(join(folder, uid), { recursive: true, force: true });
      }
  };

  const looking = (async () => {
    while (!stopped) {
      await look().catch((error: unknown) => {
        if (!stopped)
          console.error(`  node ${name}: ${error instanceof Error ? error.message : String(error)}`);
      });
      await delay(200);
    }
  })();
  return {
    log,
    pods,
    stop: async () => {
      stopped = true;
      await looking;
      await Promise.all([...pods.values()].map((pod) => pod.drop()));
    },
  };
};

const registerNode = async (api: Api, name: string, zone: string): Promise<void> => {
  const labels = {
    'kubernetes.io/hostname': name,
    'topology.kubernetes.io/zone': zone,
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/os': 'linux',
  };
  await api.post('/api/v1/nodes', { metadata: { name, labels } });
  const capacity = { cpu: '64', memory: '256Gi', pods: '110', 'ephemeral-storage': '500Gi' };
  const now = new Date().toISOString();
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'Test',
    message: '',
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  };
  await api.patch(`/api/v1/nodes/${name}/status`, {
    status: { capacity, allocatable: capacity, conditions: [ready] },
  });
  // New nodes are tainted until a controller, which does not run here, finds them ready.
  await api.patch(`/api/v1/nodes/${name}`, { spec: { taints: null } });
};
