/** A client that starts video or music jobs on a gateway and waits for them. */
import type { Test } from 'tap';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { eventually } from '../eventually.ts';
import type { TestGateway } from '../gateway.ts';

export interface ShownJob {
  readonly id: string;
  readonly status: string;
  readonly stream_url?: string;
  readonly unsigned_urls?: string[];
  readonly outputs?: { url: string; duration: number; media_type: string; size_bytes: number }[];
  readonly [field: string]: unknown;
}

export interface JobClient {
  /** A path of the gateway, or a whole address. */
  call(path: string, method?: string, body?: object): Promise<{ status: number; body: ShownJob }>;
  /** Of the model, unless the fields name another. */
  create(fields: object): Promise<ShownJob>;
  until(id: string, ...statuses: string[]): Promise<ShownJob>;
  final(id: string): Promise<ShownJob>;
}

export interface JobRoute {
  readonly path: '/videos' | '/music';
  readonly model: string;
  /** What every job that was started must be. */
  readonly job: TSchema;
}

export const jobClient = (t: Test, gateway: TestGateway, { path, model, job }: JobRoute): JobClient => {
  const authorization = `Bearer ${gateway.key}`;
  const isJob = Compile(job);
  const call: JobClient['call'] = async (place, method = 'GET', body) => {
    const response = await fetch(place.startsWith('http') ? place : `${gateway.url}${place}`, {
      method,
      headers: body === undefined ? { authorization } : { authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as ShownJob };
  };
  const until: JobClient['until'] = (id, ...statuses) =>
    eventually(async () => {
      const { body } = await call(`${path}/${id}`);
      return statuses.includes(body.status) && body;
    }, `${id} is ${statuses}`);
  return {
    call,
    until,
    create: async (fields) => {
      const said = await call(path, 'POST', { model, ...fields });
      t.equal(said.status, 202, JSON.stringify(said.body));
      t.ok(isJob.Check(said.body), JSON.stringify(isJob.Errors(said.body)));
      return said.body;
    },
    final: (id) => until(id, 'completed', 'failed', 'cancelled', 'expired'),
  };
};
