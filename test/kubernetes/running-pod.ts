/** One pod as a process in a read-only root of its own, from its first probe to its end. One that exits is not restarted: it is a failure here. */
import { spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Api } from './api.ts';
import { clusterAddress } from './control-plane.ts';
import type { NodeEvent } from './node.ts';
import { argumentsOf, filesOf, type Pod, type Probe, variablesOf } from './pod.ts';
import { root } from './tools.ts';

interface PodOptions {
  readonly api: Api;
  readonly pod: Pod;
  readonly address: string;
  /** Of its volumes. */
  readonly folder: string;
  readonly note: (what: NodeEvent['what'], code?: number | null) => void;
}

export interface RunningPod {
  readonly name: string;
  readonly address: string;
  readonly gone: boolean;
  /** What its process wrote. */
  output(): string;
  /** Brings its ConfigMaps up to date. */
  refresh(): Promise<void>;
  terminate(): Promise<void>;
  /** Ends it at once, with its node. */
  drop(): Promise<void>;
}

/** What the image has of the system; its root is otherwise empty, and cannot be written. */
const system = ['/usr', '/etc/passwd', '/etc/hosts', '/etc/nsswitch.conf', '/etc/ld.so.cache', '/etc/ssl'];

const sandboxArgs = (pod: Pod, folder: string): string[] => {
  const node = realpathSync(process.execPath);
  const user = String(pod.spec.securityContext?.runAsUser ?? 1000);
  const bind = (from: string, to = from): string[] =>
    existsSync(from) ? ['--ro-bind', realpathSync(from), to] : [];
  return [
    // Its own process only waits for the container's, whose id it writes there.
    ...['--info-fd', '3', '--unshare-user', '--uid', user, '--gid', user, '--tmpfs', '/'],
    ...system.flatMap((path) => bind(path)),
    ...['bin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ...(node.startsWith('/usr/') ? [] : bind(dirname(node))),
    ...['bin', 'dist', 'package.json', 'node_modules'].flatMap((name) =>
      bind(join(root, name), `/sluice/${name}`),
    ),
    ...(pod.spec.containers[0].volumeMounts ?? []).flatMap(({ name, mountPath, readOnly }) => [
      readOnly === true ? '--ro-bind' : '--bind',
      join(folder, name),
      mountPath,
    ]),
    ...[
      '--proc',
      '/proc',
      '--dev',
      '/dev',
      '--remount-ro',
      '/',
      '--chdir',
      '/sluice',
      '--die-with-parent',
      '--',
    ],
    ...[node, '/sluice/bin/sluice.mjs'],
  ];
};

/** As the kubelet lays them out: all files change at once, when a link is replaced. */
const writeVolume = (folder: string, files: Readonly<Record<string, string>>): void => {
  const version = `..${Date.now()}-${Math.random()}`;
  mkdirSync(join(folder, version), { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, version, name), text);
    if (!existsSync(join(folder, name))) symlinkSync(join('..data', name), join(folder, name));
  }
  symlinkSync(version, join(folder, '..data_new'));
  renameSync(join(folder, '..data_new'), join(folder, '..data'));
};

export const startPod = async ({ api, pod, address, folder, note }: PodOptions): Promise<RunningPod> => {
  const { name, namespace, uid } = pod.metadata;
  const [container] = pod.spec.containers;
  const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
  const written = new Map<string, string>();
  const refresh = async (): Promise<void> => {
    for (const volume of pod.spec.volumes ?? []) {
      // A token is made once here; it lasts longer than a test.
      if (volume.projected !== undefined && written.has(volume.name)) continue;
      const files = await filesOf(api, pod, volume);
      const version = JSON.stringify(files ?? null);
      if (written.get(volume.name) === version) continue;
      mkdirSync(join(folder, volume.name), { recursive: true });
      if (files !== undefined) writeVolume(join(folder, volume.name), files);
      written.set(volume.name, version);
    }
  };
  mkdirSync(folder, { recursive: true });
  const outputFile = join(folder, 'output');
  writeFileSync(outputFile, '');
  await refresh();
  const variables = {
    ...(await variablesOf(api, pod, address)),
    KUBERNETES_SERVICE_HOST: clusterAddress,
    KUBERNETES_SERVICE_PORT: '443',
  };
  // Pods share one network here: each listens on its own address instead of all.
  const listening = Object.fromEntries(
    Object.entries(variables).map(([key, value]) => [key, value === '0.0.0.0' ? address : value]),
  );
  const child = spawn('bwrap', [...sandboxArgs(pod, folder), ...argumentsOf(pod, variables)], {
    env: { PATH: process.env.PATH ?? '', HOME: '/tmp', NODE_ENV: 'production', ...listening },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const inner = (async (): Promise<number> => {
    let text = '';
    for await (const bytes of child.stdio[3] as Readable) text += String(bytes);
    return (JSON.parse(text) as { readonly 'child-pid': number })['child-pid'];
  })();
  inner.catch(() => undefined);
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (bytes: Buffer) => existsSync(folder) && appendFileSync(outputFile, bytes));
  note('started');

  let ready = false;
  let gone = false;
  /** Its node is gone: nobody reports its end. */
  let dropped = false;
  let stopping: Promise<void> | undefined;
  let exited = false;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.once('exit', (code) => {
    exited = true;
    note('exited', code);
  });
  const report = async (isReady: boolean): Promise<void> => {
    if (gone) return;
    if (isReady !== ready) note(isReady ? 'ready' : 'unready');
    ready = isReady;
    await setStatus(api, path, { pod, address, ready: isReady, exited }).catch(() => undefined);
  };
  const probing = (async () => {
    await report(false);
    const portOf = (port: string | number): number =>
      container.ports?.find((each) => each.name === port)?.containerPort ?? Number(port);
    const probe = async ({ httpGet, timeoutSeconds }: Probe): Promise<boolean> =>
      fetch(`http://${address}:${portOf(httpGet.port)}${httpGet.path}`, {
        signal: AbortSignal.timeout(timeoutSeconds * 1000),
      }).then(
        ({ ok }) => ok,
        () => false,
      );
    const { startupProbe, readinessProbe } = container;
    while (!exited && startupProbe !== undefined && !(await probe(startupProbe)))
      await delay(startupProbe.periodSeconds * 1000);
    let failures = 0;
    while (!exited && !gone) {
      const ok = readinessProbe === undefined || (await probe(readinessProbe));
      failures = ok ? 0 : failures + 1;
      if (ok !== ready && (ok || failures >= (readinessProbe?.failureThreshold ?? 1))) await report(ok);
      await Promise.race([delay((readinessProbe?.periodSeconds ?? 1) * 1000), ended]);
    }
    if (!gone && stopping === undefined) await report(false);
  })();
  const kill = (): void => void (exited || child.kill('SIGKILL'));
  process.once('exit', kill);

  const stop = async (): Promise<void> => {
    note('stopping');
    const graceMs = pod.spec.terminationGracePeriodSeconds * 1000;
    const deadline = delay(graceMs).then(() => 'late' as const);
    const sleep = container.lifecycle?.preStop?.sleep?.seconds ?? 0;
    await Promise.race([delay(sleep * 1000), ended, deadline]);
    note('terminated');
    if (!exited) process.kill(await inner, 'SIGTERM');
    if ((await Promise.race([ended, deadline])) === 'late' && !exited) {
      note('killed');
      kill();
      await ended;
    }
    gone = true;
    await probing;
    process.off('exit', kill);
    if (!dropped) await api.call('DELETE', path, { gracePeriodSeconds: 0, preconditions: { uid } });
  };
  return {
    name,
    address,
    get gone() {
      return gone;
    },
    output: () => (existsSync(outputFile) ? readFileSync(outputFile, 'utf8') : ''),
    refresh,
    terminate: () => (stopping ??= stop()),
    drop: async () => {
      dropped = true;
      gone = true;
      kill();
      await Promise.all([ended, stopping, probing]);
    },
  };
};

interface Status {
  readonly pod: Pod;
  readonly address: string;
  readonly ready: boolean;
  readonly exited: boolean;
}

const setStatus = (api: Api, path: string, { pod, address, ready, exited }: Status): Promise<void> => {
  const at = new Date().toISOString();
  const condition = (type: string, value: boolean) => ({
    type,
    status: value ? 'True' : 'False',
    lastTransitionTime: at,
  });
  const { name, image } = pod.spec.containers[0];
  const state = exited
    ? { terminated: { exitCode: 1, startedAt: at, finishedAt: at } }
    : { running: { startedAt: at } };
  return api.patch(`${path}/status`, {
    status: {
      phase: 'Running',
      podIP: address,
      podIPs: [{ ip: address }],
      startTime: at,
      conditions: [
        ...['PodScheduled', 'Initialized'].map((type) => condition(type, true)),
        ...['ContainersReady', 'Ready'].map((type) => condition(type, ready)),
      ],
      containerStatuses: [{ name, image, imageID: image, ready, started: ready, restartCount: 0, state }],
    },
  });
};
