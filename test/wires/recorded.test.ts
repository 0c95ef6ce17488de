/** Replays what real model servers sent (`npm run test:engines -- --record`) through the wires and through the gateway. */
import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { anthropicWire } from '../../src/engines/wires/anthropic/wire.ts';
import { completionWire } from '../../src/engines/wires/openai/completions.ts';
import { openAiWire } from '../../src/engines/wires/openai/wire.ts';
import type { ApiError } from '../../src/errors.ts';
import type { Part, Parts } from '../../src/ports/engines/chat.ts';
import { startScriptedEngine } from '../engines/scripted-engine.ts';
import { startGateway } from '../gateway.ts';
import { someOf } from '../long.ts';
import { sampleCall } from '../samples.ts';
import type { Recorded } from '../servers/record.ts';
import { answers, dice, wave } from '../servers/toys/bigram.ts';
import { borrowed } from './borrowed-buffers.ts';
import { joined, readable, thinker } from './samples.ts';

interface Index {
  readonly server: string;
  readonly version: string;
  readonly recorded: readonly Recorded[];
}

const root = new URL('../fixtures/engines/', import.meta.url);
const folders = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const bytesOf = (folder: string, file: string): Buffer => readFileSync(new URL(`${folder}/${file}`, root));

const call = sampleCall();
const completionCall = {
  prompts: ['one two'],
  stream: true,
  maxTokens: 3,
  n: 1,
  sampling: {},
  stop: [],
  logprobs: undefined,
  echo: false,
  user: undefined,
} as const;

const decoderOf = (kind: string) => {
  if (kind === 'messages') return anthropicWire.chat.decodeStream(thinker);
  if (kind === 'completions') return completionWire.decodeStream(thinker, completionCall);
  return openAiWire.chat.decodeStream(thinker, call);
};

const readStream = (kind: string, pieces: readonly Buffer[]) => {
  const decoder = decoderOf(kind);
  const parts: Part[] = [];
  for (const piece of borrowed(pieces)) parts.push(...decoder.push(piece));
  parts.push(...decoder.end());
  const failure: ApiError | undefined = decoder.failure;
  return { parts, failure: failure?.kind };
};

const readWhole = (kind: string, bytes: Buffer): Parts =>
  kind === 'messages'
    ? anthropicWire.chat.decodeWhole(thinker, call, bytes)
    : openAiWire.chat.decodeWhole(thinker, call, bytes);

/** What a client would see of it. */
const summaryOf = (parts: Parts) => {
  const list = joined(parts);
  const texts = (type: string): string =>
    list.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('');
  const calls = list.flatMap((part) => (part.type === 'tool-call' ? [part] : []));
  return {
    text: texts('text'),
    thought: texts('reasoning').trim(),
    calls: calls.map(({ call: number, id, name }) => ({
      id: /^call_./.test(id),
      name,
      arguments: list
        .map((part) => (part.type === 'tool-arguments' && part.call === number ? part.text : ''))
        .join(''),
    })),
    finish: list.flatMap((part) => (part.type === 'finish' ? [part.reason] : [])),
    usage: list.flatMap((part) => (part.type === 'usage' ? [part.usage] : [])).at(-1),
  };
};

const toolCall = (name: string, parameters: string) => ({ id: true, name, arguments: parameters });
const oslo = toolCall('get_weather', '{"city": "Oslo"}');
const count = answers['[count]'].join('');
const plain = { text: '', thought: '', calls: [] as object[], finish: ['stop'] };

/** By the name of a fixture, without `messages-` and `-stream`. The toy model always answers the same. */
const expected: Readonly<Record<string, typeof plain>> = {
  text: { ...plain, text: answers.plain.join('') },
  wave: { ...plain, text: wave.text },
  stop: { ...plain, text: count.slice(0, count.indexOf(' four')) },
  length: { ...plain, text: count.slice(0, count.indexOf(' four')), finish: ['length'] },
  call: { ...plain, calls: [oslo], finish: ['tool_calls'] },
  forced: { ...plain, calls: [oslo], finish: ['tool_calls'] },
  calls: {
    ...plain,
    calls: [toolCall('get_weather', '{"city": "Bergen"}'), toolCall('get_time', '{"zone": "CET"}')],
    finish: ['tool_calls'],
  },
  schema: { ...plain, text: '{"mood":"calm"}' },
  think: { ...plain, text: 'Done so.', thought: 'Let me see' },
  completion: { ...plain, text: ' three four five', finish: ['length'] },
};

/** The server's own count, read without the wire. */
const usageIn = (bytes: Buffer) => {
  const found: Record<string, number> = {};
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (typeof inner === 'number' && /_tokens$/.test(key)) found[key] = inner;
      collect(inner);
    }
  };
  for (const line of bytes.toString().split('\n')) {
    const json = line.replace(/^data: /, '');
    if (json.startsWith('{')) collect(JSON.parse(json));
  }
  const {
    prompt_tokens: prompt = (found.input_tokens ?? 0) +
      (found.cache_read_input_tokens ?? 0) +
      (found.cache_creation_input_tokens ?? 0),
    completion_tokens: completion = found.output_tokens,
    cached_tokens: cached = found.cache_read_input_tokens ?? 0,
  } = found;
  return { prompt, completion, cached };
};

/** Arguments as their meaning: servers space JSON differently. */
const compact = (json: string): string => (json === '' ? '' : JSON.stringify(JSON.parse(json)));

for (const folder of folders) {
  const index = JSON.parse(bytesOf(folder, 'index.json').toString()) as Index;
  const title = `${index.server} ${index.version}`;
  const chats = index.recorded.filter(({ kind }) => ['chat', 'messages', 'completions'].includes(kind));

  t.test(`${title}: conversations`, async (t) => {
    for (const { name, kind, file } of chats) {
      const bytes = bytesOf(folder, file);
      const base = name.replace(/^messages-|-stream$/g, '');
      const streams = file.endsWith('.sse');
      const read = streams
        ? readStream(kind, [bytes])
        : { parts: readWhole(kind, bytes), failure: undefined };
      t.equal(read.failure, undefined, `${name}: complete`);
      const { usage, ...summary } = summaryOf(read.parts);
      const { completion, prompt, cached } = usage ?? {};
      t.strictSame({ prompt, completion, cached }, usageIn(bytes), `${name}: usage`);
      if (base === 'logprobs') {
        const tokens = readable(read.parts).flatMap((part) =>
          part.type === 'text' && 'logprobs' in part ? (part.logprobs ?? []) : [],
        );
        const [side] = tokens as readonly {
          token: string;
          top_logprobs: readonly { token: string; logprob: number }[];
        }[];
        t.ok(summary.text in dice.sides, `${name}: ${summary.text}`);
        for (const [word, chance] of Object.entries(dice.sides)) {
          const { logprob = 0 } = side?.top_logprobs.find(({ token }) => token === word) ?? {};
          t.ok(Math.abs(logprob - Math.log(chance)) < 1e-3, `${name}: ${word} ${logprob}`);
        }
        continue;
      }
      const wanted = expected[base];
      t.ok(wanted, `${name} is expected`);
      const compacted = (calls: readonly object[]) =>
        calls.map((one) => ({ ...one, arguments: compact((one as { arguments: string }).arguments) }));
      const text =
        base === 'schema' ? compact(summary.text) : base === 'think' ? summary.text.trim() : summary.text;
      t.strictSame(
        { ...summary, text, calls: compacted(summary.calls) },
        { ...wanted, calls: compacted(wanted?.calls ?? []) },
        name,
      );
    }
  });

  t.test(`${title}: streams split and cut anywhere`, async (t) => {
    for (const { name, kind, file } of chats.filter((one) => one.file.endsWith('.sse'))) {
      const bytes = bytesOf(folder, file);
      const plainly = (pieces: readonly Buffer[]) => {
        const { parts, ...rest } = readStream(kind, pieces);
        return JSON.stringify({ parts: summaryOf(parts), ...rest });
      };
      const reference = plainly([bytes]);
      const different: number[] = [];
      for (const at of someOf([...bytes.keys()].slice(1), 60))
        if (plainly([bytes.subarray(0, at), bytes.subarray(at)]) !== reference) different.push(at);
      t.strictSame(different, [], `${name} cut in two`);
      t.equal(plainly([...bytes].map((byte) => Buffer.from([byte]))), reference, `${name} byte by byte`);

      // The server dies: whatever has arrived before the reason why it ended is not an answer.
      const finish = /"(finish_reason|stop_reason)": ?"/.exec(bytes.toString('latin1'))?.index ?? 0;
      t.not(finish, 0, `${name} ends for a reason`);
      const passed: number[] = [];
      for (let at = 0; at <= finish; at += 7)
        if (readStream(kind, [bytes.subarray(0, at)]).failure === undefined) passed.push(at);
      t.strictSame(passed, [], `${name} without its end`);
    }
  });

  t.test(`${title}: refusals`, async (t) => {
    for (const { name, status, file } of index.recorded.filter(({ kind }) => kind === 'error')) {
      const body = bytesOf(folder, file).toString();
      const reading = openAiWire.readError(status, body);
      t.equal(typeof reading.message, 'string', name);
      t.notMatch(reading.message, /127\.0\.0\.1|\n|\/tmp\//, name);
      if (name === 'bad-schema') t.equal(reading.status, 400, name);
      if (name === 'unknown-model') t.equal(reading.status, 404, name);
      if (name === 'wrong-key') t.equal(reading.status, 401, name);
      if (name !== 'overlong') continue;
      t.equal(reading.status, 400, name);
      const { prompt = 0, window = 0 } = openAiWire.chat?.readContextFull?.(reading.message ?? '') ?? {};
      t.ok(window > 1000 && prompt > window, `${name}: ${prompt} of ${window} tokens`);
    }
  });

  t.test(`${title}: embeddings, rerank and tokens through the gateway`, async (t) => {
    const of = (kind: string) => index.recorded.find((one) => one.kind === kind);
    const engine = await startScriptedEngine((request) => {
      const path = /^POST (\S+)/.exec(request.head)?.[1];
      const recorded = index.recorded.find((one) => one.path === path);
      if (recorded === undefined) request.json(404, { error: { message: `no recording of ${path}` } });
      else request.json(recorded.status, bytesOf(folder, recorded.file).toString());
    });
    const tokenizer = of('tokenize')?.body.content === undefined ? 'vllm' : 'llama.cpp';
    const gateway = await startGateway({
      catalog: `
engines:
  toy: { wire: openai, replicas: ['${engine.url}'], tokenizer_api: ${tokenizer} }
models:
  toy/writer: { engine: toy, served_as: writer, context_length: 4096 }
  toy/search: { kind: embedding, engine: toy, served_as: search, context_length: 512, capabilities: { embedding: { dimensions: 512 } } }
  toy/rank: { kind: rerank, engine: toy, served_as: search, context_length: 512 }
`,
    });
    t.teardown(async () => {
      await gateway.stop();
      await engine.close();
    });
    const post = async <T>(path: string, body: object): Promise<T> => {
      const response = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      t.equal(response.status, 200, text);
      return JSON.parse(text) as T;
    };
    const embedded = await post<{ data: { embedding: number[] }[]; usage: object }>('/embeddings', {
      model: 'toy/search',
      input: ['one', 'two'],
    });
    t.strictSame(
      embedded.data.map(({ embedding }) => [embedding.length, embedding.every(Number.isFinite)]),
      [
        [512, true],
        [512, true],
      ],
    );
    const { prompt } = usageIn(bytesOf(folder, of('embeddings')?.file ?? ''));
    t.strictSame(embedded.usage, { prompt_tokens: prompt, total_tokens: prompt });
    if (of('rerank') !== undefined) {
      const body = { model: 'toy/rank', query: 'abc', documents: ['xyz', 'abc'] };
      const { results } = await post<{ results: { index: number }[] }>('/rerank', body);
      t.strictSame(
        results.map(({ index }) => index),
        [1, 0],
      );
    }
    if (of('tokenize') !== undefined) {
      const prompt = 'one two [long]';
      const body = { model: 'toy/writer', prompt, return_token_strs: true };
      const { count, token_strs: texts } = await post<{ count: number; token_strs: string[] }>(
        '/tokenize',
        body,
      );
      t.equal(count, 4);
      t.equal(texts.join('').replaceAll('Ġ', ' '), prompt);
    }
  });
}

t.test('every folder has its recordings', async (t) => {
  t.not(folders.length, 0);
  for (const folder of folders) {
    const { recorded } = JSON.parse(bytesOf(folder, 'index.json').toString()) as Index;
    t.strictSame(
      readdirSync(new URL(`${folder}/`, root)).sort(),
      ['index.json', ...recorded.map(({ file }) => file)].sort(),
    );
  }
});
