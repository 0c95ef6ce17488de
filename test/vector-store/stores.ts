/** A gateway that records usage events, with vector store calls. */
import type { UsageEvent } from '../../schemas/usage-event.ts';
import type { SearchPage, VectorStore, VectorStoreFile } from '../../schemas/vector-stores/vector-store.ts';
import { createKeys } from '../../src/keys/keys.ts';
import { eventually } from '../eventually.ts';
import { type GatewayOptions, startGateway, type TestGateway } from '../gateway.ts';

export interface Said<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body & Refused;
}

interface Refused {
  readonly error?: { readonly message: string; readonly metadata: { readonly error_type: string } };
}

export interface Stores {
  readonly gateway: TestGateway;
  readonly events: readonly UsageEvent[];
  /** JSON, a form, or nothing; as the given key, or the first one. */
  call<Body>(method: string, path: string, body?: unknown, key?: string): Promise<Said<Body>>;
  create(fields?: object): Promise<VectorStore>;
  add(store: string, file: File, fields?: Readonly<Record<string, string>>): Promise<Said<VectorStoreFile>>;
  search(store: string, input: string, options?: object): Promise<SearchPage['data']>;
  /** Once the file is in or has failed. */
  settled(store: string, file: string): Promise<VectorStoreFile>;
}

export const startStores = async (options: GatewayOptions = {}): Promise<Stores> => {
  const gateway = await startGateway(options);
  return { gateway, events: watched(gateway), ...callsOf(gateway.url, gateway.key) };
};

const watched = ({ ports: { usage } }: TestGateway): readonly UsageEvent[] => {
  const events: UsageEvent[] = [];
  const record = usage.record.bind(usage);
  usage.record = (event) => {
    events.push(event);
    return record(event);
  };
  return events;
};

export const callsOf = (url: string, firstKey: string): Omit<Stores, 'gateway' | 'events'> => {
  const call = async <Body>(
    method: string,
    path: string,
    body?: unknown,
    key = firstKey,
  ): Promise<Said<Body>> => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };
  return {
    call,
    create: async (fields = {}) => (await call<VectorStore>('POST', '/vector_store', fields)).body,
    add: (store, file, fields = {}) => call('POST', `/vector_store/${store}/files`, formOf(file, fields)),
    search: async (store, input, options = {}) =>
      (await call<SearchPage>('POST', `/vector_store/${store}/search`, { input, ...options })).body.data,
    settled: (store, file) =>
      eventually(
        async () => {
          const { body } = await call<VectorStoreFile>('GET', `/vector_store/${store}/files/${file}`);
          return body.status !== 'in_progress' && body;
        },
        `the end of ${file}`,
        600,
      ),
  };
};

const formOf = (file: File, fields: Readonly<Record<string, string>>): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('file', file);
  return form;
};

export const text = (content: string, name = 'notes.txt'): File =>
  new File([content], name, { type: 'text/plain' });

/** A key of another subscription. */
export const strangerTo = async ({ ports: { state } }: TestGateway): Promise<string> => {
  const keys = createKeys(state);
  const subscription = await keys.createSubscription('strangers');
  const { secret } = await keys.createKey({ subscription: subscription.id });
  return secret;
};
