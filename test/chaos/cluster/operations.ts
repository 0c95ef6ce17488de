/** Requests of a chaos run that the mix of the topology lacks: resumed streams, vector stores, completions, rerank. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../../topology/client.ts';
import { chatQuantities, embed, type Operation } from '../../topology/operations.ts';

type ChatUsage = Parameters<typeof chatQuantities>[0];

const completions: Operation = async (client) => {
  const [route, model] = ['/completions', 'sluice/chat'];
  const body = { model, prompt: '/sim tokens=9 rate=max\nHello' };
  const answer = await client.json<{ usage: ChatUsage }>(route, { body });
  await client.bill(answer.requestId, route, model, chatQuantities(answer.body.usage));
};

const rerank: Operation = async (client) => {
  const [route, model] = ['/rerank', 'sluice/rerank'];
  const documents = ['The gate opens.', 'The water rises in the lock.'];
  const answer = await client.json<{ usage: { prompt_tokens: number } }>(route, {
    body: { model, query: 'water', documents },
  });
  const { prompt_tokens } = answer.body.usage;
  await client.bill(answer.requestId, route, model, { prompt_tokens, inputs: documents.length });
};

/** Not billed. */
const tokenize: Operation = async (client) => {
  await client.json('/tokenize', { body: { model: 'sluice/chat', prompt: 'The gate opens.' } });
};

const models: Operation = async (client) => {
  await client.json('/models');
};

/** Milliseconds in which a stream that was left is read to its end. */
const resumeWithin = 60_000;
const tokens = 60;

/** Leaves its stream after some events and comes back for the rest, as often as its connection breaks. */
const resumed =
  (front: string): Operation =>
  async (client) => {
    const route = '/chat/completions';
    const body = {
      model: 'sluice/chat',
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: `/sim tokens=${tokens} rate=40/s\nHello` }],
    };
    const response = await client.open(front + route, { body, headers: { 'sluice-resumable': '60' } });
    const [stream, requestId] = ['x-stream-id', 'x-request-id'].map((name) => response.headers.get(name));
    if (!response.ok || !stream || !requestId) {
      if (requestId) client.refused.push({ requestId, status: response.status });
      else client.cut.push(undefined);
      throw new Error(`${route}: ${response.status} ${await response.text()}`);
    }
    let text = await eventsOf(response, 10);
    for (const end = Date.now() + resumeWithin; !text.endsWith('data: [DONE]\n\n'); ) {
      if (Date.now() > end || /^data: \{"error"/m.test(text)) {
        client.cut.push(requestId);
        throw new Error(`${route}: a resumable stream was lost`);
      }
      const last = [...text.matchAll(/^id: (\d+)$/gm)].at(-1)?.[1];
      const headers = last === undefined ? {} : { 'last-event-id': last };
      const rest = await client.open(`${front}/streams/${stream}`, { headers }).catch(() => undefined);
      if (rest?.status === 200) text += await eventsOf(rest);
      else {
        await rest?.body?.cancel();
        await delay(500);
      }
    }
    const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    if (ids.some((id, index) => id !== index))
      throw new Error('Wrong: events of a resumed stream are not in order');
    const [, usage] = [...text.matchAll(/^data: (\{.*"usage":\{.*\})$/gm)].at(-1) ?? [];
    const quantities = chatQuantities((JSON.parse(usage ?? '') as { usage: ChatUsage }).usage);
    await client.bill(requestId, route, 'sluice/chat', quantities);
  };

/** Whole events only: what broke off in the middle comes again. Goes after `most`. */
const eventsOf = async (response: Response, most = Number.POSITIVE_INFINITY): Promise<string> => {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes as Uint8Array, { stream: true });
      if (text.split('\n\n').length > most) break;
    }
  } catch {
    // Broken off: the rest is asked for.
  }
  return text.slice(0, text.lastIndexOf('\n\n') + 2).replace(/^(?::.*\n\n)+/gm, '');
};

export interface File {
  readonly client: Client;
  readonly store: string;
  readonly id: string;
}

const model = 'sluice/embed';
const text = 'Spring tides come with the new and the full moon, when sun and moon pull in one line.';
const question = 'When do the highest spring tides of all come, by sun and moon?';

/** Vector stores: creates and fills them, searches and chats with what they found. */
export class Stores {
  /** Uploaded; those that are not ingested at once are billed later. */
  readonly files: File[] = [];
  #quantities = { text: 0, question: 0 };

  /** What the texts count. */
  async prepare(client: Client): Promise<void> {
    this.#quantities = { text: await embed(client, [text]), question: await embed(client, [question]) };
  }

  async create(client: Client): Promise<string> {
    const { body: store } = await client.json<{ id: string }>('/vector_store', { body: { name: 'tides' } });
    const form = new FormData();
    form.set('file', new Blob([text]), 'tides.txt');
    const { body: file } = await client.json<{ id: string }>(`/vector_store/${store.id}/files`, {
      body: form,
    });
    this.files.push({ client, store: store.id, id: file.id });
    return store.id;
  }

  async search(client: Client, store: string, address?: string): Promise<number> {
    const at = address === undefined ? {} : { address };
    const { requestId, body } = await client.json<{ data: unknown[] }>(`/vector_store/${store}/search`, {
      body: { input: question },
      ...at,
    });
    const prompt_tokens = this.#quantities.question;
    await client.bill(requestId, '/vector_store/{id}/search', model, { prompt_tokens, inputs: 1 });
    return body.data.length;
  }

  readonly use: Operation = async (client) => {
    const store = await this.create(client);
    await this.search(client, store);
    const route = '/chat/completions/RAG';
    const messages = [{ role: 'user', content: question }];
    const { requestId, body } = await client.json<{ usage: ChatUsage }>(route, {
      body: { model: 'sluice/chat', collection: store, max_tokens: 20, messages },
    });
    const asked = { prompt_tokens: this.#quantities.question, inputs: 1 };
    // The question is embedded first, an operation of its own.
    await client.bill(`${requestId}_query`, route, model, asked);
    await client.bill(requestId, route, 'sluice/chat', chatQuantities(body.usage));
  };

  /** Its status; bills it where it is through. */
  async settle({ client, store, id }: File): Promise<string> {
    const { body } = await client.json<{ status: string }>(`/vector_store/${store}/files/${id}`);
    if (body.status === 'completed')
      // Batches of a file have ids of their own: `file-…_0` is the first.
      await client.bill(`${id}_0`, '/vector_store/{id}/files', model, {
        prompt_tokens: this.#quantities.text,
        inputs: 1,
      });
    return body.status;
  }
}

export const more = (front: string, stores: Stores): readonly Operation[] => [
  ...Array.from({ length: 6 }, () => resumed(front)),
  ...Array.from({ length: 3 }, () => stores.use),
  ...[completions, completions, rerank, rerank, tokenize, models],
];
