/** Tests `sluice.yaml`: valid files give their catalog, invalid ones a one-line error with its position. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import t from 'tap';
import { defaultCatalog } from '../../src/catalog/default-catalog.ts';
import { loadCatalogFile, parseCatalog } from '../../src/catalog/load.ts';
import { CatalogFileError, CatalogUnreadableError } from '../../src/catalog/problems.ts';
import { openCatalog } from '../../src/catalog/watch.ts';

const problemsOf = (run: () => unknown): readonly string[] => {
  try {
    run();
  } catch (error) {
    if (error instanceof CatalogFileError) return error.problems;
    throw error;
  }
  return [];
};

const parse = (text: string) => parseCatalog(text, 'sluice.yaml', '/etc/sluice');

/** A valid row with the fields of the test; they start on line 3. */
const chat = (...fields: string[]): string =>
  [
    'models:',
    '  acme/writer:',
    '    engine: simulator',
    '    context_length: 4096',
    ...fields.map((f) => `    ${f}`),
  ].join('\n');

const bad: readonly [name: string, text: string, ...problems: string[]][] = [
  ['empty file', '', 'sluice.yaml:1:1 models is missing'],
  ['a list', '- a', 'sluice.yaml:1:1 the file must be a map of fields'],
  [
    'broken YAML',
    'models:\n  a: [1, 2\nb: 3',
    'sluice.yaml:3:1 is not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]',
  ],
  ['tabs', 'models:\n\ta: 1', 'sluice.yaml:2:1 is not valid YAML: Tabs are not allowed as indentation'],
  [
    'two documents',
    'models: {}\n---\nmodels: {}',
    'sluice.yaml:2:1 is not valid YAML: Source contains multiple documents; please use YAML.parseAllDocuments()',
  ],
  ['unknown alias', 'models: *nowhere', 'sluice.yaml:1:9 uses *nowhere, which is defined nowhere above it'],
  ['no models', 'engines: {}', 'sluice.yaml:1:1 models is missing'],
  ['models without rows', 'models:', 'sluice.yaml:1:1 models must be a map of fields'],
  ['no model', 'engines: {}\nmodels: {}', 'sluice.yaml:2:1 models must have at least one model'],
  [
    'unknown top key',
    'models: {}\nengine: {}',
    'sluice.yaml:2:1 engine is not a known field; did you mean engines?',
  ],
  [
    'unknown key',
    chat('contxt_length: 3'),
    'sluice.yaml:5:5 models.acme/writer.contxt_length is not a known field; did you mean context_length?',
  ],
  ['unknown key like none', chat('zzz: 3'), 'sluice.yaml:5:5 models.acme/writer.zzz is not a known field'],
  [
    'unknown nested key',
    chat('pricing: { promt: "1" }'),
    'sluice.yaml:5:16 models.acme/writer.pricing.promt is not a known field; did you mean prompt?',
  ],
  [
    'wrong type',
    chat('max_completion_tokens: many'),
    'sluice.yaml:5:5 models.acme/writer.max_completion_tokens must be an integer',
  ],
  [
    'fraction',
    chat('max_completion_tokens: 1.5'),
    'sluice.yaml:5:5 models.acme/writer.max_completion_tokens must be an integer',
  ],
  [
    'zero',
    chat('max_completion_tokens: 0'),
    'sluice.yaml:5:5 models.acme/writer.max_completion_tokens must be at least 1',
  ],
  [
    'number as price',
    chat('pricing: { prompt: 0.5 }'),
    "sluice.yaml:5:16 models.acme/writer.pricing.prompt must be a decimal number in quotes, such as '0.0000005'",
  ],
  [
    'exponent as price',
    chat("pricing: { prompt: '5e-7' }"),
    "sluice.yaml:5:16 models.acme/writer.pricing.prompt must be a decimal number in quotes, such as '0.0000005'",
  ],
  [
    'unknown kind',
    chat('kind: chatty'),
    'sluice.yaml:5:5 models.acme/writer.kind must be one of chat, embedding, decision, rerank, image, video, music, speech, transcription',
  ],
  [
    'text for a flag',
    chat('private: "yes"'),
    'sluice.yaml:5:5 models.acme/writer.private must be true or false',
  ],
  [
    'text for a list',
    chat('legacy_ids: old'),
    'sluice.yaml:5:5 models.acme/writer.legacy_ids must be a list',
  ],
  [
    'empty item',
    chat('legacy_ids:', '  - ""'),
    'sluice.yaml:6:9 models.acme/writer.legacy_ids[0] must not be empty',
  ],
  ['null', chat('reasoning:'), 'sluice.yaml:5:5 models.acme/writer.reasoning must be a map of fields'],
  [
    'missing engine',
    'models:\n  acme/writer:\n    context_length: 1',
    'sluice.yaml:2:3 models.acme/writer.engine is missing',
  ],
  [
    'unknown effort',
    chat('reasoning: { mandatory: true, supported_efforts: [huge] }'),
    'sluice.yaml:5:55 models.acme/writer.reasoning.supported_efforts[0] must be one of none, minimal, low, medium, high, xhigh, max, ultra',
  ],
  [
    'default parameter that is none',
    chat('default_parameters: { seed: 1 }'),
    'sluice.yaml:5:27 models.acme/writer.default_parameters.seed is not a known field',
  ],
  [
    'default parameter out of range',
    chat('default_parameters: { temperature: 3 }'),
    'sluice.yaml:5:27 models.acme/writer.default_parameters.temperature must be at most 2',
  ],
  [
    'forwarded field that is no name',
    chat("forward: [min_p, 'a.b', '**', '']"),
    "sluice.yaml:5:22 models.acme/writer.forward[1] must be the name of a request field, or '*' for all",
    "sluice.yaml:5:29 models.acme/writer.forward[2] must be the name of a request field, or '*' for all",
    "sluice.yaml:5:35 models.acme/writer.forward[3] must be the name of a request field, or '*' for all",
  ],
  [
    'forwarded fields that the gateway sets',
    `engines:\n  a: { wire: openai, replicas: ["http://a/v1"], forward: [min_p, max_tokens] }\n${chat('forward: [stream]')}`,
    'sluice.yaml:2:66 engines.a.forward[1] names a field that the gateway sets itself',
    'sluice.yaml:7:15 models.acme/writer.forward[0] names a field that the gateway sets itself',
  ],
  [
    'forwarded field twice',
    chat('forward: [min_p, min_p]'),
    'sluice.yaml:5:5 models.acme/writer.forward must not have the same item twice',
  ],
  [
    'forwarded fields of another kind',
    'models:\n  a: { engine: simulator, kind: speech, voices: [a], forward: [min_p] }',
    'sluice.yaml:2:54 models.a.forward is for chat models only',
  ],
  [
    'limit',
    chat('limits: { concurrency: 0 }'),
    'sluice.yaml:5:15 models.acme/writer.limits.concurrency must be at least 1',
  ],
  [
    'field twice',
    chat('private: true', 'private: false'),
    'sluice.yaml:6:5 models.acme/writer.private is written twice',
  ],
  [
    'id twice',
    'models:\n  a: { engine: simulator, context_length: 1 }\n  a: { engine: simulator, context_length: 1 }',
    'sluice.yaml:3:3 models.a is written twice',
  ],
  [
    'unknown engine',
    chat().replace('engine: simulator', 'engine: simulater'),
    'sluice.yaml:3:5 models.acme/writer.engine names no row under engines; did you mean simulator?',
  ],
  [
    'unknown engine like none',
    chat().replace('engine: simulator', 'engine: x'),
    'sluice.yaml:3:5 models.acme/writer.engine names no row under engines',
  ],
  [
    'row for the simulator',
    'engines:\n  simulator: { wire: openai, replicas: ["http://a/v1"] }\nmodels: {}',
    'sluice.yaml:2:3 engines.simulator is built in and takes no row',
    'sluice.yaml:3:1 models must have at least one model',
  ],
  [
    'engine wire',
    'engines:\n  a: { wire: smoke, replicas: ["http://a/v1"] }\nmodels: {}',
    'sluice.yaml:2:8 engines.a.wire must be one of openai, anthropic',
    'sluice.yaml:3:1 models must have at least one model',
  ],
  [
    'engine without replicas',
    'engines:\n  a: { wire: openai, replicas: [] }\nmodels: {}',
    'sluice.yaml:2:22 engines.a.replicas must have at least 1 item',
  ],
  [
    'engine address',
    'engines:\n  a: { wire: openai, replicas: ["http://a/v1", "b:80"] }\nmodels: {}',
    'sluice.yaml:2:48 engines.a.replicas[1] must be an address such as http://10.0.0.5:8000/v1',
  ],
  [
    'engine replica with a weight',
    'engines:\n  a: { wire: openai, replicas: [{ url: "http://a/v1", weight: 0 }, { url: "a" }, { weight: 2 }, 7] }\nmodels: {}',
    'sluice.yaml:2:55 engines.a.replicas[0].weight must be at least 0.01',
    'sluice.yaml:2:70 engines.a.replicas[1].url must be an address such as http://10.0.0.5:8000/v1',
    'sluice.yaml:2:82 engines.a.replicas[2].url is missing',
    'sluice.yaml:2:97 engines.a.replicas[3] must be an address such as http://10.0.0.5:8000/v1 or a map of fields',
  ],
  [
    'engine balance',
    'engines:\n  a: { wire: openai, replicas: ["http://a/v1"], balance: random, slow_start: 5 }\nmodels: {}',
    'sluice.yaml:2:49 engines.a.balance must be one of least-busy, prefix, session',
    'sluice.yaml:2:66 engines.a.slow_start must be a length of time such as 500ms, 2s or 10m',
  ],
  [
    'engine session that is missing',
    `engines:\n  a: { wire: openai, replicas: ["http://a/v1"], balance: session }\n${chat()}`,
    'sluice.yaml:2:3 engines.a.session is missing: balance session needs a header or a field',
  ],
  [
    'engine session without the policy',
    `engines:\n  a: { wire: openai, replicas: ["http://a/v1"], session: { header: x-user } }\n${chat()}`,
    'sluice.yaml:2:49 engines.a.session has no meaning without balance session',
  ],
  [
    'engine session of two sources',
    `engines:\n  a: { wire: openai, replicas: ["http://a/v1"], balance: session, session: { header: x-user, field: user } }\n${chat()}`,
    'sluice.yaml:2:67 engines.a.session must have either header or field',
  ],
  [
    'engine session by no name',
    'engines:\n  a: { wire: openai, replicas: ["http://a/v1"], balance: session, session: { header: "x y", field: "a..b" } }\nmodels: {}',
    'sluice.yaml:2:78 engines.a.session.header must be the name of a header',
    'sluice.yaml:2:93 engines.a.session.field must be the name of a request field such as user or metadata.session_id',
  ],
  [
    'engine time-out',
    'engines:\n  a: { wire: openai, replicas: ["http://a/v1"], timeouts: { idle: 30 } }\nmodels: {}',
    'sluice.yaml:2:61 engines.a.timeouts.idle must be a length of time such as 500ms, 2s or 10m',
  ],
  [
    'colon in an id',
    'models:\n  "a:b": { engine: simulator, context_length: 1 }',
    'sluice.yaml:2:3 models.a:b must not have a colon in its id: what follows a colon is read as a variant',
  ],
  [
    'space in an id',
    'models:\n  a b: { engine: simulator, context_length: 1 }',
    'sluice.yaml:2:3 models.a b must have an id of letters, digits, dots, dashes, underscores and slashes, at most 200',
  ],
  [
    'chat without a window',
    'models:\n  a: { engine: simulator }',
    'sluice.yaml:2:3 models.a.context_length is missing: a chat model needs it',
  ],
  [
    'window on an image model',
    'models:\n  a: { engine: simulator, kind: image, context_length: 1 }',
    'sluice.yaml:2:40 models.a.context_length has no meaning for an image model',
  ],
  [
    'more out than in',
    chat('max_completion_tokens: 4097'),
    'sluice.yaml:5:5 models.acme/writer.max_completion_tokens must be at most context_length',
  ],
  [
    'price on the wrong side',
    "models:\n  a: { engine: simulator, kind: video, pricing: { prompt: '1' } }",
    'sluice.yaml:2:51 models.a.pricing.prompt must be left out: a video model is priced by completion alone',
  ],
  [
    'embedding with an answer price',
    "models:\n  a: { engine: simulator, kind: embedding, context_length: 1, pricing: { completion: '1' } }",
    'sluice.yaml:2:74 models.a.pricing.completion must be left out: an embedding model is priced by prompt alone',
  ],
  [
    'voices on chat',
    chat('voices: [ada]'),
    'sluice.yaml:5:5 models.acme/writer.voices is for speech models only',
  ],
  [
    'a voice that the engine has no words for',
    "engines: { far: { wire: openai, replicas: ['http://127.0.0.1:1/v1'] } }\nmodels:\n  a: { engine: far, kind: speech, capabilities: { speech: { clone: true } } }",
    'sluice.yaml:3:61 models.a.capabilities.speech.clone needs asked_by vllm or sluice: plain OpenAI servers have no words for it',
  ],
  [
    'reasoning on speech',
    'models:\n  a: { engine: simulator, kind: speech, reasoning: { mandatory: true } }',
    'sluice.yaml:2:41 models.a.reasoning is for chat models only',
  ],
  [
    'capabilities of another kind',
    chat('capabilities: { embedding: { dimensions: 3 } }'),
    'sluice.yaml:5:21 models.acme/writer.capabilities.embedding is for embedding models only',
  ],
  [
    'default effort',
    chat('reasoning: { mandatory: false, supported_efforts: [low], default_effort: high }'),
    'sluice.yaml:5:62 models.acme/writer.reasoning.default_effort must be one of supported_efforts: low',
  ],
  [
    'mandatory and none',
    chat('reasoning: { mandatory: true, supported_efforts: [none] }'),
    'sluice.yaml:5:35 models.acme/writer.reasoning.supported_efforts must not have none when reasoning is mandatory',
  ],
  [
    'mandatory and off',
    chat('reasoning: { mandatory: true, default_enabled: false }'),
    'sluice.yaml:5:35 models.acme/writer.reasoning.default_enabled must not be false when reasoning is mandatory',
  ],
  [
    'legacy id of a model',
    `${chat()}\n  b: { engine: simulator, context_length: 1, legacy_ids: [acme/writer] }`,
    'sluice.yaml:5:59 models.b.legacy_ids[0] is already a name of models.acme/writer',
  ],
  [
    'legacy id twice',
    chat('legacy_ids: [old, old]'),
    'sluice.yaml:5:23 models.acme/writer.legacy_ids[1] is written twice',
  ],
  [
    'alias clash',
    `${chat()}\n  anthropic/acme/writer: { engine: simulator, context_length: 1 }`,
    'sluice.yaml:2:3 models.acme/writer is already a name of models.anthropic/acme/writer',
  ],
  [
    'default that is none',
    `${chat()}\ndefaults: { chat: b }`,
    'sluice.yaml:5:13 defaults.chat names no row under models',
  ],
  [
    'default of another kind',
    `${chat()}\ndefaults: { image: acme/writer }`,
    'sluice.yaml:5:13 defaults.image names a chat model',
  ],
  [
    'default not served',
    `${chat('served: false')}\ndefaults: { chat: acme/writer }`,
    'sluice.yaml:6:13 defaults.chat names a model that is not served',
  ],
  [
    'unknown default',
    `${chat()}\ndefaults: { chats: acme/writer }`,
    'sluice.yaml:5:13 defaults.chats is not a known field; did you mean chat?',
  ],
  [
    'several, in the order of the file',
    chat('contextlength: 1', 'private: 3', 'name: ""'),
    'sluice.yaml:5:5 models.acme/writer.contextlength is not a known field; did you mean context_length?',
    'sluice.yaml:6:5 models.acme/writer.private must be true or false',
    'sluice.yaml:7:5 models.acme/writer.name must not be empty',
  ],
];

for (const [name, text, ...problems] of bad)
  t.test(`refused: ${name}`, async (t) =>
    t.same(
      problemsOf(() => parse(text)),
      problems,
    ),
  );

t.test('the message is the first problem and the number of others', async (t) => {
  const text = chat('private: 3', 'served: 3', 'name: 3');
  t.throws(() => parse(text), {
    message: 'sluice.yaml:5:5 models.acme/writer.private must be true or false (and 2 more)',
  });
});

t.test('at most twenty problems are reported', async (t) => {
  const text = `models:\n${Array.from({ length: 40 }, (_, i) => `  m${i}: { engine: none }`).join('\n')}`;
  t.equal(problemsOf(() => parse(text)).length, 20);
});

t.test('a flood of unknown fields is reported as well', async (t) => {
  const text = `models: {}\n${Array.from({ length: 40 }, (_, i) => `x${i}: 1`).join('\n')}`;
  t.equal(problemsOf(() => parse(text))[0], 'sluice.yaml:2:1 x0 is not a known field');
});

t.test('aliases and merges work within bounds and keep their positions', async (t) => {
  const config = parse(
    'models:\n  a: &base { engine: simulator, context_length: 10 }\n  b: { <<: *base, name: B }\n  c: *base',
  );
  t.same(
    config.models.map(({ id, name, context_length }) => ({ id, name, context_length })),
    [
      { id: 'a', name: 'a', context_length: 10 },
      { id: 'b', name: 'B', context_length: 10 },
      { id: 'c', name: 'c', context_length: 10 },
    ],
  );
  t.same(
    problemsOf(() =>
      parse('models:\n  a: &base\n    engine: nobody\n    context_length: 1\n  b:\n    <<: *base'),
    ),
    [
      'sluice.yaml:3:5 models.a.engine names no row under engines',
      'sluice.yaml:3:5 models.b.engine names no row under engines',
    ],
  );
  const bomb = ['a: &a [x,x,x,x,x,x,x,x,x,x]'];
  for (let i = 1; i < 9; i++)
    bomb.push(
      `${'abcdefghi'[i]}: &${'abcdefghi'[i]} [${Array(10)
        .fill(`*${'abcdefghi'[i - 1]}`)
        .join()}]`,
    );
  t.same(
    problemsOf(() => parse(bomb.join('\n'))),
    ['sluice.yaml:1:1 repeats so much by aliases that it is not read'],
  );
});

t.test('endless nesting is refused without a crash', async (t) => {
  t.equal(problemsOf(() => parse(`models: ${'['.repeat(20_000)}`)).length, 1);
});

t.test('files', async (t) => {
  const file = (name: string, content: string | Buffer): string => {
    const path = join(t.testdirName, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  };
  t.testdir({});
  const shown = (path: string): string => path.slice(process.cwd().length + 1);

  const missing = join(t.testdirName, 'none.yaml');
  t.throws(() => loadCatalogFile(missing), CatalogUnreadableError);
  t.same(
    problemsOf(() => loadCatalogFile(missing)),
    [`${shown(missing)} cannot be read (ENOENT)`],
  );
  t.same(
    problemsOf(() => loadCatalogFile(t.testdirName)),
    [`${shown(t.testdirName)} is not a file`],
  );
  const large = file('large.yaml', `# ${'x'.repeat(4 * 1024 * 1024)}`);
  t.same(
    problemsOf(() => loadCatalogFile(large)),
    [`${shown(large)}:1:1 is larger than 4194304 bytes`],
  );
  const latin = file('latin.yaml', Buffer.from([0x61, 0xe9, 0x62]));
  t.same(
    problemsOf(() => loadCatalogFile(latin)),
    [`${shown(latin)}:1:1 is not UTF-8 text`],
  );

  const good = loadCatalogFile(
    file(
      'good.yaml',
      `
engines:
  pool-a: { wire: openai, replicas: ['http://10.0.0.5:8000/v1'], timeouts: { connect: 2s } }
models:
  acme/writer:
    engine: pool-a
    served_as: writer-fp8
    context_length: 131072
    pricing: { prompt: '0.000001' }
    limits: { concurrency: 7 }
  acme/voice: { engine: simulator, kind: speech, voices: [one] }
defaults: { chat: acme/writer }
served_list: lists/served.txt
`,
    ),
  );
  t.match(good, {
    engines: {
      'pool-a': { wire: 'openai', replicas: ['http://10.0.0.5:8000/v1'], timeouts: { connect: '2s' } },
    },
    defaults: { chat: 'acme/writer' },
    servedList: join(t.testdirName, 'lists/served.txt'),
  });
  t.match(good.models, [
    {
      id: 'acme/writer',
      kind: 'chat',
      name: 'acme/writer',
      engine: 'pool-a',
      served_as: 'writer-fp8',
      served: true,
      private: false,
      pricing: { prompt: '0.000001', completion: '0' },
      limits: { concurrency: 7, requests_per_minute: 60_000 },
      input_modalities: ['text'],
      output_modalities: ['text'],
    },
    { id: 'acme/voice', kind: 'speech', output_modalities: ['speech'], voices: ['one'] },
  ]);
});

t.test('rows that the engines refuse are not loaded', async (t) => {
  const file = join(t.testdir({ 'sluice.yaml': chat() }), 'sluice.yaml');
  const opened = openCatalog({
    file,
    log: pino({ level: 'silent' }),
    onConfig: (next) => {
      if (next.engines['pool-a'] !== undefined) throw new Error('POOL_A_KEY is not set');
    },
  });
  t.teardown(() => opened.close());
  const before = opened.config();
  t.equal(opened.reload(), true);
  writeFileSync(file, `engines: { pool-a: { wire: openai, replicas: ['http://a/v1'] } }\n${chat()}`);
  t.equal(opened.reload(), false);
  t.same(opened.config(), before);
  t.equal(opened.catalog.list().length, 1);
});

t.test('forwarded fields are those of the model, else of its engine', async (t) => {
  const { models } = parse(`
engines:
  a: { wire: openai, replicas: ['http://a/v1'], forward: [min_p, structured_outputs] }
  all: { wire: openai, replicas: ['http://a/v1'], forward: ['*'] }
models:
  lab/a: { engine: a, context_length: 1 }
  lab/own: { engine: a, context_length: 1, forward: [priority] }
  lab/none: { engine: a, context_length: 1, forward: [] }
  lab/all: { engine: all, context_length: 1 }
  lab/embed: { engine: a, kind: embedding, context_length: 1 }
  lab/simulated: { engine: simulator, context_length: 1 }
`);
  t.strictSame(
    models.map(({ forward }) => forward),
    [['min_p', 'structured_outputs'], ['priority'], [], ['*'], undefined, undefined],
  );
  const [a, own, none, all] = models.map(({ supported_parameters }) => supported_parameters);
  t.strictSame(a, [...(none ?? []), 'min_p'], 'clients see what they may send, each name once');
  t.strictSame(own, [...(none ?? []), 'priority']);
  t.strictSame(all, none);
});

t.test('the example file is valid', async (t) => {
  const example = loadCatalogFile(new URL('../../sluice.example.yaml', import.meta.url).pathname);
  t.ok(example.models.length > 0);
});

t.test('the default catalog has a model of each kind that has a route', async (t) => {
  t.same([...new Set(defaultCatalog.models.map((model) => model.kind))].sort(), [
    'chat',
    'decision',
    'embedding',
    'image',
    'music',
    'rerank',
    'speech',
    'transcription',
    'video',
  ]);
  t.ok(defaultCatalog.models.every((model) => model.engine === 'simulator'));
});
