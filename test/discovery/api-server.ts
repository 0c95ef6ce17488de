/** A Kubernetes API server, as far as EndpointSlices of one namespace go: lists in pages, watches, bookmarks, 410. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClusterAddress } from '../../src/engines/discovery/kubernetes-api.ts';

export interface Endpoint {
  readonly ip: string;
  readonly ready?: boolean | null;
  readonly terminating?: boolean;
}

interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: { readonly metadata: { readonly name?: string; readonly resourceVersion: string } };
}

const path = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';

export class ApiServer {
  /** `list` and `watch <version>`, in the order that they came. */
  readonly asked: string[] = [];
  /** Items of one page. */
  pageSize = 500;
  readonly #slices = new Map<string, Change['object']>();
  readonly #watches = new Set<ServerResponse>();
  readonly #folder = mkdtempSync(join(tmpdir(), 'sluice-pod-'));
  readonly #server = createServer((request, response) => this.#answer(request, response));
  #history: Change[] = [];
  #version = 100;
  /** Changes up to this version are forgotten. */
  #forgotten = 0;
  #token = 'first';

  constructor() {
    this.rotateToken('first');
  }

  async start(): Promise<ClusterAddress> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const { port } = this.#server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, folder: this.#folder };
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    rmSync(this.#folder, { recursive: true });
  }

  rotateToken(token: string): void {
    this.#token = token;
    writeFileSync(join(this.#folder, 'token'), `${token}\n`);
  }

  put(
    name: string,
    endpoints: readonly Endpoint[],
    ports: readonly object[] = [{ name: 'http', port: 8000 }],
  ): void {
    const type = this.#slices.has(name) ? 'MODIFIED' : 'ADDED';
    const object = {
      metadata: {
        name,
        resourceVersion: `${++this.#version}`,
        labels: { 'kubernetes.io/service-name': 'vllm' },
      },
      addressType: 'IPv4',
      endpoints: endpoints.map(({ ip, ready = true, terminating }) => ({
        addresses: [ip],
        conditions: { ...(ready !== null && { ready }), serving: true, ...(terminating && { terminating }) },
      })),
      ports,
    };
    this.#slices.set(name, object);
    this.#send({ type, object });
  }

  delete(name: string): void {
    const slice = this.#slices.get(name);
    if (slice === undefined) throw new Error(`There is no ${name}`);
    this.#slices.delete(name);
    const resourceVersion = `${++this.#version}`;
    this.#send({ type: 'DELETED', object: { ...slice, metadata: { ...slice.metadata, resourceVersion } } });
  }

  /** Tells the watches how far they are. */
  bookmark(): void {
    this.#version += 10;
    const object = { metadata: { resourceVersion: `${this.#version}` } };
    for (const watch of this.#watches) watch.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
  }

  /** Ends the watches as a server does after `timeoutSeconds`. */
  endWatches(): void {
    for (const watch of this.#takeWatches()) watch.end();
  }

  /** Compacted: older versions cannot be watched from. `told`: running watches get the error as an event. */
  forget(told: boolean): void {
    this.#forgotten = ++this.#version;
    this.#history = [];
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
    for (const watch of this.#takeWatches()) {
      if (told) watch.end(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
      else watch.destroy();
    }
  }

  #takeWatches(): readonly ServerResponse[] {
    const all = [...this.#watches];
    this.#watches.clear();
    return all;
  }

  #send(change: Change): void {
    this.#history.push(change);
    for (const watch of this.#watches) watch.write(`${JSON.stringify(change)}\n`);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '', 'http://api');
    const query = url.searchParams;
    const isOurs = url.pathname === path && query.get('labelSelector') === 'kubernetes.io/service-name=vllm';
    if (request.headers.authorization !== `Bearer ${this.#token}`) refuse(response, 401);
    else if (!isOurs) refuse(response, 403);
    else if (query.get('watch') === 'true') this.#watch(Number(query.get('resourceVersion')), response);
    else this.#list(Number(query.get('continue') ?? 0), response);
  }

  #list(from: number, response: ServerResponse): void {
    this.asked.push('list');
    const all = [...this.#slices.values()];
    const next = from + this.pageSize;
    const metadata = {
      resourceVersion: `${this.#version}`,
      ...(next < all.length && { continue: `${next}` }),
    };
    response.setHeader('content-type', 'application/json');
    response.end(
      `${JSON.stringify({ kind: 'EndpointSliceList', metadata, items: all.slice(from, next) })}\n`,
    );
  }

  #watch(version: number, response: ServerResponse): void {
    this.asked.push(`watch ${version}`);
    if (version < this.#forgotten) {
      refuse(response, 410);
      return;
    }
    this.#watches.add(response);
    response.on('close', () => this.#watches.delete(response));
    response.setHeader('content-type', 'application/json');
    response.flushHeaders();
    for (const change of this.#history)
      if (Number(change.object.metadata.resourceVersion) > version)
        response.write(`${JSON.stringify(change)}\n`);
  }
}

const refuse = (response: ServerResponse, status: number): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ kind: 'Status', code: status }));
};
