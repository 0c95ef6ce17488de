/** Clients that stream through a Service, as a load balancer that follows its EndpointSlices would send them. */
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import type { Api, ApiObject } from './api.ts';

interface Slice extends ApiObject {
  readonly ports: readonly { readonly name: string; readonly port: number }[];
  readonly endpoints?: readonly {
    readonly addresses: readonly string[];
    readonly conditions: { readonly ready?: boolean };
  }[];
}

/** `http://10.244.0.1:8787` of every pod that is ready. */
export const readyAddresses = async (
  api: Api,
  namespace: string,
  service: string,
): Promise<readonly string[]> => {
  const slices = await api.list<Slice>(
    `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?labelSelector=kubernetes.io/service-name%3D${service}`,
  );
  return slices.flatMap(({ ports, endpoints }) =>
    (endpoints ?? [])
      .filter(({ conditions }) => conditions.ready === true)
      .map(({ addresses }) => `http://${addresses[0]}:${ports[0]?.port}`),
  );
};

export interface Load {
  /** Streams that ended as they should. */
  readonly whole: number;
  readonly failures: readonly string[];
  /** By address. */
  readonly served: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

interface LoadOptions {
  readonly namespace: string;
  readonly service: string;
  readonly key: string;
  readonly model: string;
  readonly clients: number;
  readonly tokens: number;
}

export const startLoad = (api: Api, options: LoadOptions): Load => {
  const { namespace, service, key, model, clients, tokens } = options;
  let [stopped, whole, turn] = [false, 0, 0];
  const failures: string[] = [];
  const served = new Map<string, number>();
  let known: readonly string[] = [];
  const following = (async () => {
    while (!stopped) {
      known = await readyAddresses(api, namespace, service).catch(() => known);
      await delay(500);
    }
  })();
  const stream = async (address: string): Promise<void> => {
    // A connection for each request: one that is kept alive may close just as it is used again.
    const { statusCode, body } = await request(`${address}/v1/chat/completions`, {
      method: 'POST',
      reset: true,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model,
        stream: true,
        max_tokens: tokens,
        messages: [{ role: 'user', content: 'Write.' }],
      }),
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`${statusCode} ${text.slice(0, 300)}`);
    if (!text.trimEnd().endsWith('data: [DONE]') || text.includes('"error"'))
      throw new Error(`cut: …${text.slice(-300)}`);
  };
  const run = async (): Promise<void> => {
    while (!stopped) {
      const address = known[turn++ % Math.max(known.length, 1)];
      if (address === undefined) await delay(50);
      else
        await stream(address).then(
          () => {
            whole++;
            served.set(address, (served.get(address) ?? 0) + 1);
          },
          (error: unknown) =>
            void failures.push(`${address}: ${error instanceof Error ? error.message : String(error)}`),
        );
    }
  };
  const running = Array.from({ length: clients }, run);
  return {
    get whole() {
      return whole;
    },
    failures,
    served,
    stop: async () => {
      stopped = true;
      await Promise.all([...running, following]);
    },
  };
};
