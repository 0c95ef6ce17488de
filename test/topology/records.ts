/** Creates jobs and vector stores across gateways, and waits for their end. */
import { eventually } from '../eventually.ts';
import type { Client } from './client.ts';
import { chatQuantities, embed } from './operations.ts';

type ChatUsage = Parameters<typeof chatQuantities>[0];

export interface Job {
  readonly id: string;
  readonly status: string;
  readonly stream_url?: string;
  readonly unsigned_urls?: readonly string[];
  readonly usage?: { readonly billed_seconds: number };
}

export interface Found {
  readonly data: readonly { readonly content: readonly { readonly text: string }[] }[];
}

/** Creates a store at one address, fills it at the other and searches at both. */
export const storeAcross = async (
  client: Client,
  one: string,
  other: string,
): Promise<{ readonly found: readonly Found[]; readonly context: Found['data'] }> => {
  const embedModel = 'sluice/embed';
  const text = 'Spring tides come with the new and the full moon, when sun and moon pull in one line.';
  const { body: store } = await client.json<{ id: string }>('/vector_store', {
    address: one,
    body: { name: 'tides' },
  });
  const form = new FormData();
  form.set('file', new Blob([text]), 'tides.txt');
  const { body: file } = await client.json<{ id: string; status: string }>(
    `/vector_store/${store.id}/files`,
    { address: other, body: form },
  );
  if (file.status !== 'completed') throw new Error(`the file is ${file.status}`);
  // Batches of a file have ids of their own: `file-…_0` is the first.
  const ofText = await embed(client, [text]);
  await client.bill(`${file.id}_0`, '/vector_store/{id}/files', embedModel, {
    prompt_tokens: ofText,
    inputs: 1,
  });

  const question = 'When do the highest spring tides of all come, by sun and moon?';
  const ofQuestion = { prompt_tokens: await embed(client, [question]), inputs: 1 };
  const found: Found[] = [];
  for (const address of [one, other]) {
    const path = `/vector_store/${store.id}/search`;
    const answer = await client.json<Found>(path, { address, body: { input: question } });
    await client.bill(answer.requestId, '/vector_store/{id}/search', embedModel, ofQuestion);
    found.push(answer.body);
  }

  const route = '/chat/completions/RAG';
  const messages = [{ role: 'user', content: question }];
  const { requestId, body } = await client.json<{ usage: ChatUsage; context: Found['data'] }>(route, {
    address: one,
    body: { model: 'sluice/chat', collection: store.id, max_tokens: 20, messages },
  });
  // The question is embedded first, an operation of its own.
  await client.bill(`${requestId}_query`, route, embedModel, ofQuestion);
  await client.bill(requestId, route, 'sluice/chat', chatQuantities(body.usage));
  return { found, context: body.context };
};

export const createJob = async (
  client: Client,
  path: '/videos' | '/music',
  address: string,
  body: { readonly model: string; readonly duration: number; readonly [field: string]: unknown },
): Promise<Job> => {
  const { requestId, body: job } = await client.json<Job>(path, { address, body });
  await client.bill(requestId, path, body.model, { seconds: body.duration });
  return job;
};

/** Polls a job through any address until it ends. */
export const ended = (client: Client, path: '/videos' | '/music', id: string): Promise<Job> =>
  eventually(
    async () => {
      const { body: job } = await client.json<Job>(`${path}/${id}`);
      return job.status !== 'pending' && job.status !== 'in_progress' && job;
    },
    `the end of ${id}`,
    60,
  );
