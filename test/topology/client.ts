/** A client that sends requests to several addresses in turn and retries on broken connections. */
import { setTimeout as delay } from 'node:timers/promises';
import type { UsageRequestRow } from '../../schemas/usage.ts';
import { costOf, type Item } from '../../src/billing/cost.ts';

export interface Answer {
  readonly requestId: string;
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

export interface Ask {
  readonly method?: string;
  readonly body?: object | FormData;
  readonly headers?: Readonly<Record<string, string>>;
  /** Only there, and once. */
  readonly address?: string;
}

type Quantity =
  | 'prompt_tokens'
  | 'completion_tokens'
  | 'cached_tokens'
  | 'reasoning_tokens'
  | 'inputs'
  | 'megapixels'
  | 'seconds';
export type Quantities = Partial<Record<Quantity, number>>;

/** A row of `GET /usage` as far as a client can know it. */
export type Billed = Pick<UsageRequestRow, Quantity | 'request_id' | 'route' | 'model' | 'outcome' | 'cost'>;

type Pricing = Readonly<Record<'prompt' | 'completion', string>> &
  Readonly<Partial<Record<'input_cache_read' | 'internal_reasoning', string>>>;

const mostAttempts = 50;

export class Client {
  readonly #addresses: readonly [string, ...string[]];
  readonly #key: string;
  #turn = 0;
  #prices: Promise<Map<string, Pricing>> | undefined;
  /** What answers said they cost. */
  readonly billed: Billed[] = [];
  /** Ids of requests that were left on purpose. */
  readonly left: string[] = [];
  /** Ids of requests that were answered with another status than success. */
  readonly refused: { readonly requestId: string; readonly status: number }[] = [];
  /** Ids of requests whose answer broke off; undefined where not even its head came. */
  readonly cut: (string | undefined)[] = [];

  constructor(addresses: readonly [string, ...string[]], key: string) {
    this.#addresses = addresses;
    this.#key = key;
  }

  /** Rejects unless the answer is a success. */
  async ask(path: string, ask: Ask = {}): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      const address =
        ask.address ?? this.#addresses[this.#turn++ % this.#addresses.length] ?? this.#addresses[0];
      const answer = await this.#attempt(address + path, ask);
      if (answer !== undefined && answer.status < 300) return answer;
      if (answer !== undefined) {
        this.refused.push({ requestId: answer.requestId, status: answer.status });
        throw new Error(`${path}: ${answer.status} ${answer.bytes.toString()}`);
      }
      if (ask.address !== undefined || attempt === mostAttempts) throw new Error(`${path}: no answer`);
      await delay(100);
    }
  }

  async json<T>(path: string, ask: Ask = {}): Promise<{ readonly requestId: string; readonly body: T }> {
    const { requestId, bytes } = await this.ask(path, ask);
    return { requestId, body: JSON.parse(bytes.toString()) as T };
  }

  /** Undefined when the connection broke, or the front says that its own did. */
  async #attempt(url: string, ask: Ask): Promise<Answer | undefined> {
    let requestId: string | undefined;
    try {
      const response = await this.open(url, ask);
      requestId = response.headers.get('x-request-id') ?? undefined;
      const bytes = Buffer.from(await response.arrayBuffer());
      const { status, headers } = response;
      if (requestId !== undefined) return { requestId, status, headers, bytes };
    } catch {
      // What is cut is counted below.
    }
    this.cut.push(requestId);
    return undefined;
  }

  open(url: string, { method, body, headers }: Ask, signal?: AbortSignal): Promise<Response> {
    const isForm = body instanceof FormData;
    return fetch(url, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        authorization: `Bearer ${this.#key}`,
        ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /** Reads a stream up to its first content and goes. */
  async leave(path: string, body: object): Promise<void> {
    const address = this.#addresses[this.#turn++ % this.#addresses.length] ?? this.#addresses[0];
    const leaving = new AbortController();
    const response = await this.open(address + path, { body }, leaving.signal);
    const id = response.headers.get('x-request-id');
    if (!response.ok || response.body === null || id === null) throw new Error(`${path}: ${response.status}`);
    await response.body.getReader().read();
    this.left.push(id);
    leaving.abort();
  }

  /** Notes what an operation used, and what it costs by the public price of its model. */
  async bill(requestId: string, route: string, model: string, quantities: Quantities): Promise<void> {
    const pricing = (await this.prices()).get(model);
    if (pricing === undefined) throw new Error(`no such model: ${model}`);
    this.billed.push({
      request_id: requestId,
      route,
      model,
      outcome: 'completed',
      ...nothing,
      ...quantities,
      cost: costOf(itemsOf({ ...nothing, ...quantities }, pricing)),
    });
  }

  /** Read once. */
  prices(): Promise<ReadonlyMap<string, Pricing>> {
    this.#prices ??= this.#readPrices();
    return this.#prices;
  }

  async #readPrices(): Promise<Map<string, Pricing>> {
    const { body } = await this.json<{ data: { id: string; pricing: Pricing }[] }>('/models');
    return new Map(body.data.map(({ id, pricing }) => [id, pricing]));
  }
}

const nothing: Record<Quantity, number> = {
  prompt_tokens: 0,
  completion_tokens: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
  inputs: 0,
  megapixels: 0,
  seconds: 0,
};

/** Models are priced by one kind of quantity; seconds are read at one price and made at the other, which is 0 where it does not apply. */
const itemsOf = (used: Record<Quantity, number>, pricing: Pricing): Item[] => [
  [used.prompt_tokens - used.cached_tokens, pricing.prompt],
  [used.cached_tokens, pricing.input_cache_read ?? pricing.prompt],
  [used.completion_tokens - used.reasoning_tokens, pricing.completion],
  [used.reasoning_tokens, pricing.internal_reasoning ?? pricing.completion],
  [String(used.megapixels), pricing.completion],
  [used.seconds, pricing.prompt],
  [used.seconds, pricing.completion],
];
