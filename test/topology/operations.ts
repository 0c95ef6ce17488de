/** One request of each billable kind, with checks of its response and expected bill. */
import { png, wav } from '../fuzz/samples.ts';
import type { Client, Quantities } from './client.ts';

export type Operation = (client: Client) => Promise<void>;

const chatModel = 'sluice/chat';
const said = (content: string) => [{ role: 'user', content }];

interface ChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
  readonly completion_tokens_details: { readonly reasoning_tokens: number };
}

export const chatQuantities = (usage: ChatUsage): Quantities => ({
  prompt_tokens: usage.prompt_tokens,
  completion_tokens: usage.completion_tokens,
  cached_tokens: usage.prompt_tokens_details.cached_tokens,
  reasoning_tokens: usage.completion_tokens_details.reasoning_tokens,
});

interface ResponsesUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens: number };
  readonly output_tokens_details: { readonly reasoning_tokens: number };
}

const responsesQuantities = (usage: ResponsesUsage): Quantities => ({
  prompt_tokens: usage.input_tokens,
  completion_tokens: usage.output_tokens,
  cached_tokens: usage.input_tokens_details.cached_tokens,
  reasoning_tokens: usage.output_tokens_details.reasoning_tokens,
});

interface Event {
  readonly type?: string;
  readonly usage?: unknown;
  readonly [field: string]: unknown;
}

const eventsIn = (bytes: Buffer): Event[] =>
  [...bytes.toString().matchAll(/^data: (\{.*\})$/gm)].map(([, json]) => JSON.parse(json ?? '') as Event);

const last = <T>(items: readonly T[]): T => {
  const item = items.at(-1);
  if (item === undefined) throw new Error('nothing came');
  return item;
};

const check = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what);
};

const chat: Operation = async (client) => {
  const route = '/chat/completions';
  const body = { model: chatModel, messages: said('/sim tokens=12 rate=max\nHello') };
  const answer = await client.json<{ usage: ChatUsage }>(route, { body });
  await client.bill(answer.requestId, route, chatModel, chatQuantities(answer.body.usage));
};

/** Slow enough to be under way when something happens to its gateway. */
export const chatStream =
  (tokens: number, rate: string): Operation =>
  async (client) => {
    const route = '/chat/completions';
    const messages = said(`/sim tokens=${tokens} rate=${rate}\nHello`);
    const body = { model: chatModel, stream: true, stream_options: { include_usage: true }, messages };
    const { requestId, bytes } = await client.ask(route, { body });
    check(bytes.toString().endsWith('data: [DONE]\n\n'), 'a stream ends with [DONE]');
    const { usage } = last(eventsIn(bytes).filter((event) => event.usage)) as { usage: ChatUsage };
    check(usage.completion_tokens === tokens, 'as many tokens as asked for');
    await client.bill(requestId, route, chatModel, chatQuantities(usage));
  };

const messages: Operation = async (client) => {
  const route = '/messages';
  const body = { model: chatModel, max_tokens: 50, messages: said('/sim tokens=9\nHello') };
  const answer = await client.json<{ usage: Record<string, number> }>(route, { body });
  const { input_tokens = 0, output_tokens = 0, cache_read_input_tokens = 0 } = answer.body.usage;
  await client.bill(answer.requestId, route, chatModel, {
    prompt_tokens: input_tokens + cache_read_input_tokens,
    completion_tokens: output_tokens,
    cached_tokens: cache_read_input_tokens,
  });
};

const responses: Operation = async (client) => {
  const [route, model] = ['/responses', 'sluice/reasoner'];
  const body = { model, input: '/sim tokens=9 reasoning=6\nHello', stream: true };
  const { requestId, bytes } = await client.ask(route, { body });
  const end = last(eventsIn(bytes));
  check(end.type === 'response.completed', 'the response completes');
  const { usage } = end.response as { usage: ResponsesUsage };
  await client.bill(requestId, route, model, responsesQuantities(usage));
};

/** Also how many tokens the embedding model counts in texts that other routes embed. */
export const embed = async (client: Client, input: readonly string[]): Promise<number> => {
  const [route, model] = ['/embeddings', 'sluice/embed'];
  const answer = await client.json<{ usage: { prompt_tokens: number } }>(route, { body: { model, input } });
  const { prompt_tokens } = answer.body.usage;
  await client.bill(answer.requestId, route, model, { prompt_tokens, inputs: input.length });
  return prompt_tokens;
};

const embeddings: Operation = async (client) => {
  await embed(client, ['The gate opens.', 'The water rises in the lock.']);
};

const decisions: Operation = async (client) => {
  const [route, model] = ['/systemone', 'sluice/decide'];
  const questions = {
    open: { type: 'noul', instructions: 'Is the gate open?' },
    level: { type: 'score', instructions: 'How high is the water?', criteria: ['low', 'middle', 'high'] },
  };
  const body = { model, state: 'The lock is full.', questions };
  const answer = await client.json<{ usage: { input_tokens: number } }>(route, { body });
  const { input_tokens } = answer.body.usage;
  await client.bill(answer.requestId, route, model, { prompt_tokens: input_tokens, inputs: 2 });
};

interface Images {
  readonly data: readonly { readonly url?: string; readonly b64_json?: string }[];
  readonly usage: { readonly megapixels: number; readonly cost: number };
}

const image: Operation = async (client) => {
  const [route, model] = ['/images/generations', 'sluice/image'];
  const body = { model, prompt: 'A lock on a canal', size: '512x256', n: 2 };
  const { requestId, body: images } = await client.json<Images>(route, { body });
  const { megapixels } = images.usage;
  check(megapixels === (2 * 512 * 256) / 1_000_000, 'two pictures of that size');
  await client.bill(requestId, route, model, { megapixels, inputs: 2 });
  for (const { url = '' } of images.data) {
    // A link leads to the store and needs no key.
    const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
    check(bytes.subarray(1, 4).toString() === 'PNG', 'a link leads to a picture');
  }
};

const imageEdit: Operation = async (client) => {
  const [route, model] = ['/images/edits', 'sluice/image-edit'];
  const form = new FormData();
  form.set('model', model);
  form.set('prompt', 'More water');
  form.set('size', '512x512');
  form.set('response_format', 'b64_json');
  form.set('image[]', new Blob([new Uint8Array(png)], { type: 'image/png' }), 'lock.png');
  const { requestId, body } = await client.json<Images>(route, { body: form });
  check(body.data[0]?.b64_json !== undefined, 'a picture in the answer');
  await client.bill(requestId, route, model, { megapixels: body.usage.megapixels, inputs: 1 });
};

const speech: Operation = async (client) => {
  const [route, model] = ['/audio/speech', 'sluice/speech'];
  const body = { model, input: 'The water rises.', voice: 'ada' };
  const { requestId, headers } = await client.ask(route, { body });
  check(headers.get('content-type') === 'audio/mpeg', 'it is an mp3');
  await client.bill(requestId, route, model, { seconds: Number(headers.get('x-usage-seconds')) });
};

const speechEvents: Operation = async (client) => {
  const [route, model] = ['/audio/speech', 'sluice/speech'];
  const body = { model, input: 'The gate opens.', response_format: 'pcm', stream_format: 'sse' };
  const { requestId, bytes } = await client.ask(route, { body });
  const done = last(eventsIn(bytes));
  check(done.type === 'speech.audio.done', 'the speech is done');
  await client.bill(requestId, route, model, { seconds: (done.usage as { seconds: number }).seconds });
};

const transcription: Operation = async (client) => {
  const [route, model] = ['/audio/transcriptions', 'sluice/transcribe'];
  const form = new FormData();
  form.set('model', model);
  form.set('file', new Blob([new Uint8Array(wav)]), 'lock.wav');
  const { requestId, body } = await client.json<{ usage: { seconds: number } }>(route, { body: form });
  check(body.usage.seconds === 1, 'a quarter of a second counts as one');
  await client.bill(requestId, route, model, { seconds: 1 });
};

const times = (count: number, operation: Operation): Operation[] =>
  Array.from({ length: count }, () => operation);

/** The cheap ones often, the dear ones seldom. */
export const operations: readonly Operation[] = [
  ...times(15, chat),
  ...times(10, chatStream(20, 'max')),
  ...times(3, chatStream(20, '100/s')),
  ...times(10, messages),
  ...times(10, responses),
  ...times(10, embeddings),
  ...times(10, decisions),
  ...times(2, image),
  imageEdit,
  speech,
  speechEvents,
  ...times(3, transcription),
];

/** Load while a gateway crashes and restarts. */
export const cheap: readonly Operation[] = [
  ...times(8, chat),
  ...times(6, chatStream(20, '100/s')),
  ...times(4, messages),
  ...times(4, embeddings),
  ...times(4, decisions),
];

/** So many at once until all are done. */
export const perform = async (client: Client, todo: readonly Operation[], atOnce: number): Promise<void> => {
  const rest = [...todo];
  const work = async (): Promise<void> => {
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) await next(client);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
};
