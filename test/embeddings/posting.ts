/** A gateway that records usage events, with a JSON POST helper. */
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { type GatewayOptions, startGateway, type TestGateway } from '../gateway.ts';

/** `Body` is what a success should have; what an answer really has is compared or checked as a whole. */
export interface Said<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body & Refused;
}

interface Refused {
  readonly error?: { readonly message: string; readonly metadata: { readonly error_type: string } };
}

export interface PostingGateway<Body> {
  readonly gateway: TestGateway;
  readonly events: readonly UsageEvent[];
  post(path: string, body: unknown, signal?: AbortSignal): Promise<Said<Body>>;
  /** `400 input is required`, or the status alone of an answer. */
  refusal(path: string, body: unknown): Promise<string>;
}

export const startPosting = async <Body>(options: GatewayOptions = {}): Promise<PostingGateway<Body>> => {
  const gateway = await startGateway(options);
  const events: UsageEvent[] = [];
  const { usage } = gateway.ports;
  const record = usage.record.bind(usage);
  usage.record = (event) => {
    events.push(event);
    return record(event);
  };
  const post = async (path: string, body: unknown, signal?: AbortSignal): Promise<Said<Body>> => {
    const response = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Body & Refused,
    };
  };
  return {
    gateway,
    events,
    post,
    refusal: async (path, body) => {
      const said = await post(path, body);
      return said.status === 200 ? '200' : `${said.status} ${said.body.error?.message}`;
    },
  };
};

/** What the embeddings route gives. */
export interface Vectors {
  readonly id: string;
  readonly data: readonly { readonly index: number; readonly embedding: readonly number[] | string }[];
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number };
}

/** As they were asked for. */
export const embeddingsOf = ({ body }: Said<Vectors>): readonly (readonly number[] | string)[] =>
  body.data.map(({ embedding }) => embedding);

/** As numbers, however they came. */
export const vectorsOf = (said: Said<Vectors>): readonly (readonly number[])[] =>
  embeddingsOf(said).map((embedding) => (typeof embedding === 'string' ? decoded(embedding) : embedding));

/** The numbers of a base64 embedding. */
export const decoded = (base64: string): readonly number[] => {
  const bytes = Buffer.from(base64, 'base64');
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
};

export const norm = (vector: readonly number[]): number => Math.hypot(...vector);

export const likeness = (one: readonly number[], other: readonly number[]): number =>
  one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0) / (norm(one) * norm(other));
