/** Follows the EndpointSlices of a Kubernetes service: lists them, then watches what changes. */
import { setTimeout as pause } from 'node:timers/promises';
import { defer, finalize, Observable } from 'rxjs';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import type { ReplicaAddress } from '../pool/membership.ts';
import { EndpointSlice, replicasOf } from './endpoint-slices.ts';
import { ApiFailure, type ClusterAddress, type KubernetesApi, openKubernetesApi } from './kubernetes-api.ts';
import type { Service } from './source.ts';

const Version = Type.Object({ resourceVersion: Type.String() });
const SliceList = Compile(
  Type.Object({
    metadata: Type.Object({ resourceVersion: Type.String(), continue: Type.Optional(Type.String()) }),
    items: Type.Array(EndpointSlice),
  }),
);
const Change = Compile(
  Type.Union([
    Type.Object({ type: Type.Enum(['ADDED', 'MODIFIED', 'DELETED']), object: EndpointSlice }),
    Type.Object({ type: Type.Literal('BOOKMARK'), object: Type.Object({ metadata: Version }) }),
    Type.Object({
      type: Type.Literal('ERROR'),
      object: Type.Object({ code: Type.Optional(Type.Integer()), message: Type.Optional(Type.String()) }),
    }),
  ]),
);

/** The API server ends a watch after this long; it is then continued where it ended. */
const watchSeconds = 240;
const shortestMs = 1000;
const pageSize = 500;
const gone = 410;

/** Of the cluster that this process runs in. */
export const watchCluster = (
  cluster: ClusterAddress,
  service: Service,
): Observable<readonly ReplicaAddress[]> =>
  defer(() => {
    const api = openKubernetesApi(cluster);
    return watchService(api, service).pipe(finalize(() => void api.close()));
  });

/**
 * Emits after the list and after every change. Errors when the API server cannot be asked, or refuses: subscribing
 * again starts with a list.
 */
export const watchService = (api: KubernetesApi, service: Service): Observable<readonly ReplicaAddress[]> =>
  new Observable((subscriber) => {
    const abort = new AbortController();
    const follower = new Follower(api, service, abort.signal, (replicas) => subscriber.next(replicas));
    follower.run().catch((error: unknown) => subscriber.error(error));
    return () => abort.abort();
  });

class Follower {
  readonly #api: KubernetesApi;
  readonly #service: Service;
  readonly #signal: AbortSignal;
  readonly #emit: (replicas: readonly ReplicaAddress[]) => void;
  readonly #slices = new Map<string, EndpointSlice>();
  #version = '';

  constructor(
    api: KubernetesApi,
    service: Service,
    signal: AbortSignal,
    emit: (replicas: readonly ReplicaAddress[]) => void,
  ) {
    this.#api = api;
    this.#service = service;
    this.#signal = signal;
    this.#emit = emit;
  }

  async run(): Promise<void> {
    await this.#list();
    while (!this.#signal.aborted) {
      // A server that ends every watch at once is not asked without pause.
      const [ended] = await Promise.all([
        this.#watch(),
        pause(shortestMs, undefined, { signal: this.#signal }),
      ]);
      if (ended === 'gone') await this.#list();
    }
  }

  async #list(): Promise<void> {
    const slices = new Map<string, EndpointSlice>();
    let page: string | undefined = '';
    while (page !== undefined) {
      const query: string = `limit=${pageSize}${page === '' ? '' : `&continue=${encodeURIComponent(page)}`}`;
      const list = checked(SliceList, await first(this.#lines(query, 30_000)));
      for (const slice of list.items) slices.set(slice.metadata.name, slice);
      this.#version = list.metadata.resourceVersion;
      page = list.metadata.continue || undefined;
    }
    this.#slices.clear();
    for (const [name, slice] of slices) this.#slices.set(name, slice);
    this.#changed();
  }

  /** Gone: what changed since the last version is no longer known there. */
  async #watch(): Promise<'ended' | 'gone'> {
    try {
      await this.#follow();
      return 'ended';
    } catch (error) {
      if (error instanceof ApiFailure && error.status === gone) return 'gone';
      throw error;
    }
  }

  async #follow(): Promise<void> {
    const query = `watch=true&allowWatchBookmarks=true&timeoutSeconds=${watchSeconds}&resourceVersion=${encodeURIComponent(this.#version)}`;
    for await (const line of this.#lines(query, (watchSeconds + 30) * 1000)) {
      const { type, object } = checked(Change, line);
      if (type === 'ERROR') throw new ApiFailure(object.code ?? 0, object.message ?? 'The watch failed');
      this.#version = object.metadata.resourceVersion ?? this.#version;
      if (type === 'BOOKMARK') continue;
      if (type === 'DELETED') this.#slices.delete(object.metadata.name);
      else this.#slices.set(object.metadata.name, object);
      this.#changed();
    }
  }

  #changed(): void {
    this.#emit(replicasOf(this.#service, this.#slices.values()));
  }

  #lines(query: string, idleMs: number): AsyncIterable<unknown> {
    const { namespace, name } = this.#service;
    const selector = encodeURIComponent(`kubernetes.io/service-name=${name}`);
    const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
    return this.#api.lines(`${path}?labelSelector=${selector}&${query}`, this.#signal, idleMs);
  }
}

const first = async (lines: AsyncIterable<unknown>): Promise<unknown> => {
  for await (const line of lines) return line;
  throw new Error('The Kubernetes API sent nothing');
};

const checked = <Value>(schema: { Check(value: unknown): value is Value }, value: unknown): Value => {
  if (schema.Check(value)) return value;
  throw new Error('The Kubernetes API sent something that is no EndpointSlice');
};
