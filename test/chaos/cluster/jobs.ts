/** Videos and songs of a chaos run: creates them, and remembers those that were acknowledged. */
import type { Random } from '../../../src/simulator/random.ts';
import type { Client } from '../../topology/client.ts';

export type JobPath = '/videos' | '/music';

export interface Created {
  readonly client: Client;
  readonly path: JobPath;
  readonly id: string;
  readonly requestId: string;
  readonly model: string;
  readonly seconds: number;
}

export interface JobState {
  readonly id: string;
  readonly status: string;
}

/** Videos are encoded, which takes a small machine half a minute each. */
const seldomVideos = ['/music', '/music', '/music', '/music', '/music', '/videos'] as const;

export class Jobs {
  readonly created: Created[] = [];
  readonly #callback: string;

  constructor(callback: string) {
    this.#callback = callback;
  }

  async create(client: Client, path: JobPath, render: number, address?: string): Promise<Created> {
    const kind =
      path === '/videos' ? { model: 'sluice/video', seconds: 4 } : { model: 'sluice/music', seconds: 5 };
    const body = {
      model: kind.model,
      duration: kind.seconds,
      prompt: `/sim render=${render}ms\nA lock on a canal`,
      callback_url: this.#callback,
      ...(path === '/videos' ? { size: '768x768', generate_audio: false } : { response_format: 'wav' }),
    };
    const at = address === undefined ? {} : { address };
    const { requestId, body: job } = await client.json<JobState>(path, { body, ...at });
    const created = { client, path, id: job.id, requestId, ...kind };
    this.created.push(created);
    return created;
  }

  any(client: Client, random: Random): Promise<Created> {
    return this.create(client, random.pick(seldomVideos), random.integer(0, 3_000));
  }
}

export const stateOf = async ({ client, path, id }: Created, address?: string): Promise<string> => {
  const at = address === undefined ? {} : { address };
  return (await client.json<JobState>(`${path}/${id}`, at)).body.status;
};

export const hasEnded = (status: string): boolean => !['pending', 'queued', 'in_progress'].includes(status);

/** All jobs of a subscription, also those whose creation was never acknowledged. */
export const everyJob = async (client: Client, path: JobPath): Promise<readonly JobState[]> => {
  const all: JobState[] = [];
  for (let after = ''; ; ) {
    const { body } = await client.json<{ data: JobState[]; has_more: boolean }>(`${path}?limit=100${after}`);
    all.push(...body.data);
    const last = body.data.at(-1);
    if (!body.has_more || last === undefined) return all;
    after = `&after=${last.id}`;
  }
};
