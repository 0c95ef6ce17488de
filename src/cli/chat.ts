/** `sluice chat`: sends a prompt to a running gateway and prints the answer as it arrives. */

import { loadConfig } from '../config.ts';
import { environment } from '../environment.ts';
import { linkTo } from '../helpers/address.ts';
import { type Command, type Input, UsageError } from './command.ts';
import { print, printJson, remark } from './output.ts';

const timeoutMs = 600_000;
/** Of a line of the stream. */
const longestLine = 1024 * 1024;

export const chat: Command = {
  name: 'chat',
  operands: 'PROMPT…',
  arity: [1, 1000],
  summary: 'send a prompt to a running gateway and print the answer as it arrives',
  options: {
    url: {
      value: 'URL',
      help: 'base URL of the gateway, ending in /v1 (SLUICE_URL, else the one configured here)',
    },
    key: { value: 'KEY', help: 'API key (SLUICE_KEY, else SLUICE_BOOTSTRAP_KEY)' },
    model: { value: 'MODEL', help: 'model to ask (the first chat model)' },
    json: { help: 'print JSON at the end, for scripts' },
  },
  run: async (input) => {
    const { url, key } = target(input);
    const model = input.text('model') ?? (await firstChatModel(url));
    const begun = performance.now();
    const response = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model,
        stream: true,
        stream_options: { include_usage: true },
        messages: [{ role: 'user', content: input.operands.join(' ') }],
      }),
      signal: AbortSignal.timeout(timeoutMs),
    }).catch((error: unknown) => unreachable(url, error));
    if (!response.ok || response.body === null)
      throw new Error(`${url} answered ${response.status}: ${messageOf(await response.text())}`);
    const answer = new Answer(begun, input.given('json') ? () => undefined : write);
    for await (const event of eventsOf(response.body)) answer.add(event);
    if (input.given('json')) return printJson({ model, ...answer.report() });
    print('');
    remark(`${model}: ${answer.timing()}`);
  },
};

const target = (input: Input): { readonly url: string; readonly key: string } => {
  const env = environment();
  const { host, port, tls, bootstrapKey } = loadConfig();
  const key = input.text('key') ?? env.SLUICE_KEY ?? bootstrapKey;
  if (key === undefined) throw new UsageError('say which key to use: --key KEY, or set SLUICE_KEY');
  const own = `${linkTo(tls === undefined ? 'http' : 'https', { host, port })}/v1`;
  return { url: (input.text('url') ?? env.SLUICE_URL ?? own).replace(/\/$/, ''), key };
};

const firstChatModel = async (url: string): Promise<string> => {
  const response = await fetch(`${url}/models`, { signal: AbortSignal.timeout(10_000) }).catch(
    (error: unknown) => unreachable(url, error),
  );
  const { data = [] } = (await response.json()) as { data?: readonly ListedModel[] };
  const found = data.find(({ architecture }) => architecture?.output_modalities?.includes('text'));
  if (found === undefined) throw new Error(`${url} lists no chat model: say --model`);
  return found.id;
};

interface ListedModel {
  readonly id: string;
  readonly architecture?: { readonly output_modalities?: readonly string[] };
}

interface ChatChunk {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string; readonly reasoning?: string };
  }[];
  readonly usage?: { readonly completion_tokens: number; readonly cost?: number } | null;
  readonly error?: { readonly message: string };
}

const write = (text: string): void => void process.stdout.write(text);

/** Passes the text on, and knows how fast it came. */
class Answer {
  readonly #begun: number;
  readonly #write: (text: string) => void;
  #text = '';
  #first: number | undefined;
  #usage: ChatChunk['usage'];

  constructor(begun: number, write: (text: string) => void) {
    this.#begun = begun;
    this.#write = write;
  }

  add({ choices = [], usage, error }: ChatChunk): void {
    if (error !== undefined) throw new Error(error.message);
    this.#usage = usage ?? this.#usage;
    for (const { delta } of choices) {
      if (delta?.content !== undefined || delta?.reasoning !== undefined) this.#first ??= performance.now();
      this.#text += delta?.content ?? '';
      this.#write(delta?.content ?? '');
    }
  }

  report(): Readonly<Record<string, unknown>> {
    const now = performance.now();
    const first = this.#first ?? now;
    return {
      text: this.#text,
      first_token_ms: Math.round(first - this.#begun),
      total_ms: Math.round(now - this.#begun),
      completion_tokens: this.#usage?.completion_tokens ?? null,
      cost: this.#usage?.cost ?? null,
    };
  }

  timing(): string {
    const now = performance.now();
    const first = this.#first ?? now;
    const tokens = this.#usage?.completion_tokens ?? 0;
    const seconds = (now - first) / 1000;
    return [
      `first token after ${Math.round(first - this.#begun)} ms`,
      `${tokens} tokens in ${seconds.toFixed(1)} s`,
      ...(tokens > 1 && seconds > 0 ? [`${Math.round((tokens - 1) / seconds)} tokens/s`] : []),
      ...(this.#usage?.cost === undefined ? [] : [`USD ${this.#usage.cost}`]),
    ].join(', ');
  }
}

async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<ChatChunk> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > longestLine) throw new Error('the gateway sent too long a line');
    for (const line of lines)
      if (line.startsWith('data: ') && line !== 'data: [DONE]') yield JSON.parse(line.slice(6)) as ChatChunk;
  }
}

const messageOf = (text: string): string => {
  try {
    return (JSON.parse(text) as { error?: { message?: string } }).error?.message ?? text.slice(0, 200);
  } catch {
    return text.slice(0, 200);
  }
};

const unreachable = (url: string, error: unknown): never => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  throw new Error(`${url} cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`);
};
