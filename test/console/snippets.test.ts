/** Tests requests shown as programs: curl and TypeScript are run against a gateway, Python against recording modules. */
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import {
  type Call,
  dataUri,
  FileText,
  type Json,
  type JsonObject,
} from '../../src/console/web/playground/call.ts';
import { snippetsOf } from '../../src/console/web/playground/snippets.ts';
import { patiently } from '../eventually.ts';
import { startGateway } from '../gateway.ts';

/** Everything that a shell, JSON, Python or TypeScript could misread. */
const words = `It's "quoted" $HOME \${HOME} \`id\` $(id) \\ \\n %s {0} 100% é 😀 <b>`;
const question = `/sim echo\n${words}`;
const notes = { name: `it's $HOME (1).md`, type: 'text/markdown' };
const notesText = '# Tides\n\nSpring tides come at full moon.\n';

const messages = [{ role: 'user', content: question }];
const parts = [
  { type: 'file', file: { filename: notes.name, file_data: dataUri(notes) } },
  { type: 'text', text: `/sim text=${JSON.stringify(words)}\nWhat does it say?` },
];

const calls = {
  chat: { path: '/chat/completions', json: { model: 'sluice/chat', messages, stream: true } },
  tools: {
    path: '/chat/completions',
    json: {
      ...{ model: 'sluice/chat', stream: true, temperature: undefined, parallel_tool_calls: false },
      messages: [{ role: 'user', content: 'What is the weather in Paris?' }],
      tools: [
        {
          type: 'function',
          function: {
            name: 'get_weather',
            parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          },
        },
      ],
    },
  },
  attachment: {
    path: '/chat/completions',
    json: { model: 'sluice/chat', messages: [{ role: 'user', content: parts }], stream: true },
  },
  messages: { path: '/messages', json: { model: 'sluice/chat', max_tokens: 100, messages, stream: true } },
  responses: { path: '/responses', json: { model: 'sluice/chat', input: question, stream: true } },
} satisfies Record<string, Omit<Call, 'result'>>;

const events = (call: Omit<Call, 'result'>): Call => ({ ...call, result: { kind: 'events' } });

const embeddings: Call = {
  path: '/embeddings',
  json: { model: 'sluice/embed', input: [words, 'b'] },
  result: { kind: 'json' },
};
const rerank: Call = {
  path: '/rerank',
  json: { model: 'sluice/rerank', query: 'tide', documents: [words, 'The tide rises.'] },
  result: { kind: 'json' },
};
const speech: Call = {
  path: '/audio/speech',
  json: { model: 'sluice/speech', input: 'Hi.', response_format: 'wav' },
  result: { kind: 'file', name: 'speech.wav' },
};
const music: Call = {
  path: '/music',
  json: { model: 'sluice/music', prompt: '/sim render=100ms\nA waltz', duration: 5, response_format: 'wav' },
  result: { kind: 'job', name: 'song.wav' },
};
const uploadTo = (store: string): Call => ({
  path: `/vector_store/${store}/files`,
  form: [
    ['attributes', JSON.stringify({ note: "it's" })],
    ['file', notes],
  ],
  result: { kind: 'json' },
});

interface Ran {
  readonly output: string;
  readonly problem: string | undefined;
}

const run = (file: string, args: readonly string[], cwd: string, key: string): Promise<Ran> =>
  new Promise((resolve) => {
    const env = { PATH: process.env.PATH, HOME: cwd, SLUICE_KEY: key };
    execFile(file, args, { cwd, env, timeout: patiently(60_000) }, (error, output, errors) =>
      resolve({ output, problem: error === null ? undefined : `${error.message}\n${errors}` }),
    );
  });

const textOf = (call: Call, base: string, id: string): string =>
  snippetsOf(call, base).find((snippet) => snippet.id === id)?.text ?? '';

const folder = mkdtempSync(join(tmpdir(), 'sluice-snippets-'));
writeFileSync(join(folder, notes.name), notesText);
const openai = createRequire(import.meta.url).resolve('openai');
symlinkSync(openai.slice(0, openai.lastIndexOf('/node_modules/') + 13), join(folder, 'node_modules'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

const gateway = await startGateway();
t.teardown(() => gateway.stop());

/** The program is valid JavaScript as well: it has no types. */
const runTypescript = (call: Call): Promise<Ran> => {
  writeFileSync(join(folder, 'program.mjs'), textOf(call, gateway.url, 'typescript'));
  return run(process.execPath, ['program.mjs'], folder, gateway.key);
};
const runCurl = (call: Call): Promise<Ran> =>
  run('sh', ['-c', textOf(call, gateway.url, 'curl')], folder, gateway.key);

const runners = [
  ['curl', runCurl],
  ['TypeScript', runTypescript],
] as const;

const hasCurl = (await run('curl', ['--version'], folder, '')).problem === undefined;
const usable = runners.filter(([name]) => name !== 'curl' || hasCurl);

/** The text of a stream of any dialect. */
const spoken = (output: string): string =>
  output
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)))
    .map(
      (event) =>
        event.choices?.[0]?.delta?.content ??
        (typeof event.delta === 'string' ? event.delta : (event.delta?.text ?? '')),
    )
    .join('');

t.test('conversations', async (t) => {
  for (const name of ['chat', 'messages', 'responses', 'attachment'] as const)
    for (const [language, runner] of usable) {
      const { output, problem } = await runner(events(calls[name]));
      t.equal(problem, undefined, `${name} with ${language}`);
      t.equal(language === 'curl' ? spoken(output) : output, words, `${name} with ${language}`);
    }
});

t.test('calls of tools are printed', async (t) => {
  const { output, problem } = await runTypescript(events(calls.tools));
  t.equal(problem, undefined);
  t.match(output, /"name":"get_weather"/);
});

t.test('JSON, files, forms and jobs', async (t) => {
  for (const [language, runner] of usable) {
    const vectors = await runner(embeddings);
    t.equal(vectors.problem, undefined, `embeddings with ${language}`);
    t.equal((JSON.parse(vectors.output) as { data: unknown[] }).data.length, 2);

    const ranked = await runner(rerank);
    t.equal(ranked.problem, undefined, `rerank with ${language}`);
    t.match(ranked.output, /The tide rises\./);

    for (const call of [speech, music]) {
      const name = 'name' in call.result ? call.result.name : '';
      const { problem } = await runner(call);
      t.equal(problem, undefined, `${name} with ${language}`);
      t.equal(readFileSync(join(folder, name)).toString('latin1', 0, 4), 'RIFF', `${name} with ${language}`);
      rmSync(join(folder, name));
    }

    const created = await fetch(`${gateway.url}/vector_store`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: '{"name":"notes"}',
    });
    const { id } = (await created.json()) as { id: string };
    const uploaded = await runner(uploadTo(id));
    t.equal(uploaded.problem, undefined, `upload with ${language}`);
    t.ok(uploaded.output.includes(notes.name), `name of the upload with ${language}`);
    t.match(uploaded.output, /completed/);
  }
});

t.test('a refusal is seen', async (t) => {
  const unknown: Call = { ...rerank, json: { ...rerank.json, model: 'sluice/none' } };
  for (const [language, runner] of usable) {
    const { output, problem } = await runner(unknown);
    t.ok(problem, language);
    t.match(`${output}${problem}`, /No model named/);
  }
});

/** Stand in for the packages, and print what they were called with. */
const modules = {
  'openai.py': `
import json
class Recorder:
    def __init__(self, **settings): self.settings = settings
    def __getattr__(self, name): return Recorder(**self.__dict__["settings"])
    def __call__(self, **body):
        print(json.dumps({"settings": self.settings, "body": body}))
        raise SystemExit
class OpenAI(Recorder): pass
class Anthropic(Recorder): pass
`,
  'anthropic.py': 'from openai import Anthropic\n',
  'requests.py': `
import json
def post(address, headers, json=None, data=None, files=None, stream=False):
    read = [[name, file.name, file.read().decode()] for name, file in files or []]
    globals()["show"]({"address": address, "headers": headers, "body": json, "data": data, "files": read, "stream": stream})
    raise SystemExit
def show(value): print(json.dumps(value))
`,
};

/** The body as it is sent. */
const sent = (value: Json | undefined): unknown => {
  if (value instanceof FileText)
    return `${value.prefix}${readFileSync(join(folder, value.file.name), 'base64')}`;
  if (Array.isArray(value)) return (value as Json[]).map(sent);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject).flatMap(([name, member]) =>
      member === undefined ? [] : [[name, sent(member)]],
    ),
  );
};

const python = (await run('python3', ['--version'], folder, '')).problem === undefined;
const runPython = async (call: Call, cwd: string): Promise<Record<string, unknown>> => {
  writeFileSync(join(cwd, 'program.py'), textOf(call, gateway.url, 'python'));
  const { output, problem } = await run('python3', ['program.py'], cwd, gateway.key);
  if (problem !== undefined) throw new Error(problem);
  return JSON.parse(output) as Record<string, unknown>;
};

t.test('Python', { skip: python ? false : 'there is no python3' }, async (t) => {
  const recording = join(folder, 'recording');
  mkdirSync(recording);
  writeFileSync(join(recording, notes.name), notesText);
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(recording, name), text);

  for (const [name, call] of [
    ...Object.entries(calls).map(([name, call]) => [name, events(call)] as const),
    ['embeddings', embeddings] as const,
  ]) {
    const { settings, body } = await runPython(call, recording);
    const base_url = name === 'messages' ? gateway.root : gateway.url;
    t.strictSame(settings, { base_url, api_key: gateway.key }, name);
    t.strictSame(body, sent(call.json), name);
  }
  const headers = { Authorization: `Bearer ${gateway.key}` };
  for (const call of [rerank, speech, music]) {
    const address = `${gateway.url}${call.path}`;
    t.strictSame(await runPython(call, recording), {
      ...{ address, headers, body: sent(call.json), data: null, files: [], stream: false },
    });
  }
  t.strictSame(await runPython(uploadTo('vs_1'), recording), {
    ...{ address: `${gateway.url}/vector_store/vs_1/files`, headers, body: null, stream: false },
    data: [['attributes', '{"note":"it\'s"}']],
    files: [['file', notes.name, notesText]],
  });
  const whole = [...Object.values(calls).map(events), embeddings, rerank, speech, music, uploadTo('vs_1')];
  writeFileSync(
    join(recording, 'all.json'),
    JSON.stringify(whole.map((call) => textOf(call, gateway.url, 'python'))),
  );
  const check = 'import ast, json\nfor text in json.load(open("all.json")): ast.parse(text)';
  t.equal(
    (await run('python3', ['-c', check], recording, '')).problem,
    undefined,
    'the lines after the call',
  );
});

t.test('no program has the key', async (t) => {
  for (const call of [...Object.values(calls).map(events), embeddings, speech, music])
    for (const { title, text } of snippetsOf(call, gateway.url)) {
      t.match(text, /SLUICE_KEY/, title);
      t.notOk(text.includes(gateway.key), title);
    }
  t.notOk(existsSync(join(folder, 'speech.wav')));
});
