/** Starts a control plane: etcd, API server, controllers and scheduler, in the network namespace of this process. */
import type { ChildProcess } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { end, launch } from '../services/child.ts';
import { type Api, openApi } from './api.ts';
import { controlPlaneFolder } from './tools.ts';

export interface ControlPlane {
  readonly url: string;
  /** The cluster's certificate, as pods see it. */
  readonly ca: string;
  readonly kubeconfig: string;
  /** Folder with the certificate of the API server and its key. */
  readonly certificates: string;
  /** With all permissions. */
  readonly api: Api;
  stop(): Promise<void>;
}

const url = 'https://127.0.0.1:6443';
/** The first address of the range of Services, which pods reach the API server at. */
export const clusterAddress = '10.96.0.1';
const adminToken = 'admin-0123456789abcdef';

export const startControlPlane = async (folder: string): Promise<ControlPlane> => {
  const children: ChildProcess[] = [];
  const start = async (
    name: string,
    args: readonly string[],
    ready: () => Promise<boolean>,
  ): Promise<void> => {
    children.push(await launch(join(controlPlaneFolder, name), args, ready));
  };
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  mkdirSync(folder, { recursive: true });
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = file('accounts.key', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  const tokens = file('tokens.csv', `${adminToken},admin,admin,system:masters\n`);
  const certificate = join(folder, 'certificates', 'apiserver.crt');

  await start('etcd', ['--data-dir', join(folder, 'etcd'), '--log-level', 'error', '--unsafe-no-fsync'], () =>
    accepts(2379),
  );
  await start(
    'kube-apiserver',
    [
      '--etcd-servers=http://127.0.0.1:2379',
      ...['--bind-address=127.0.0.1', '--secure-port=6443', '--advertise-address=10.0.0.1'],
      ...[`--cert-dir=${join(folder, 'certificates')}`, '--service-cluster-ip-range=10.96.0.0/16'],
      ...[`--service-account-key-file=${key}`, `--service-account-signing-key-file=${key}`],
      ...['--service-account-issuer=https://kubernetes.default.svc', `--token-auth-file=${tokens}`],
      ...['--authorization-mode=RBAC', '--profiling=false', '--enable-aggregator-routing=true'],
    ],
    async () =>
      existsSync(certificate) && (await accepts(6443)) && (await isReady(readFileSync(certificate, 'utf8'))),
  );
  const ca = readFileSync(certificate, 'utf8');
  const kubeconfig = file('kubeconfig', kubeconfigOf(ca));
  const common = [`--kubeconfig=${kubeconfig}`, '--leader-elect=false'];
  await start(
    'kube-controller-manager',
    [
      ...common,
      ...[`--service-account-private-key-file=${key}`, `--root-ca-file=${certificate}`],
      // Nodes here have no kubelet that reports: they are not found dead.
      '--controllers=*,-node-lifecycle-controller',
      '--horizontal-pod-autoscaler-sync-period=2s',
    ],
    () => accepts(10_257),
  );
  await start('kube-scheduler', common, () => accepts(10_259));
  const proxy = await openProxy();
  const api = openApi(url, adminToken, ca);
  return {
    ...{ url, ca, kubeconfig, api, certificates: dirname(certificate) },
    stop: async () => {
      await api.close();
      proxy.close();
      for (const child of children.reverse()) await end(child, 'SIGKILL');
    },
  };
};

const isReady = async (ca: string): Promise<boolean> => {
  const api = openApi(url, adminToken, ca);
  try {
    return (await api.call('GET', '/readyz')).status === 200;
  } catch {
    return false;
  } finally {
    await api.close();
  }
};

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });

const kubeconfigOf = (ca: string): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'test',
        cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') },
      },
    ],
    users: [{ name: 'admin', user: { token: adminToken } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    'current-context': 'test',
  });

/** In place of kube-proxy: the address of the Service `kubernetes`. */
const openProxy = async () => {
  const server = createServer((socket) => {
    const upstream = connect(6443, '127.0.0.1');
    const close = () => {
      socket.destroy();
      upstream.destroy();
    };
    for (const each of [socket, upstream]) each.on('error', close).on('close', close);
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(443, clusterAddress, resolve);
  });
  if ((server.address() as AddressInfo).port !== 443) throw new Error('no port 443');
  return server;
};
