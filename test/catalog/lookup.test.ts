/** Tests the Catalog port: name resolution, entries of each kind and missing files. */
import fc from 'fast-check';
import t from 'tap';
import Value from 'typebox/value';
import type { Model, ModelKind, ModelRow } from '../../schemas/catalog.ts';
import { MessagesModel, ModelEntry } from '../../schemas/model-entry.ts';
import { createCatalog } from '../../src/catalog/catalog.ts';
import { defaultCatalog } from '../../src/catalog/default-catalog.ts';
import { messagesModel, modelEntry } from '../../src/catalog/entry.ts';
import { defaultImage } from '../../src/catalog/image-models.ts';
import { kindDefaults } from '../../src/catalog/kind-defaults.ts';
import type { CatalogConfig } from '../../src/catalog/model-index.ts';
import { resolveRow } from '../../src/catalog/resolve-row.ts';
import { ApiError } from '../../src/errors.ts';

const chat = (row: Partial<ModelRow> = {}): ModelRow => ({
  engine: 'simulator',
  context_length: 4096,
  ...row,
});

const rows: Record<string, ModelRow> = {
  'acme/writer': chat({ legacy_ids: ['acme/old', 'old'], hugging_face_id: 'Acme-AI/Writer-8B' }),
  plain: chat(),
  'acme/ends-normalize': chat(),
  'acme/secret': chat({ private: true, legacy_ids: ['former-secret'], hugging_face_id: 'Acme-AI/Secret' }),
  'acme/gone': chat({ served: false, legacy_ids: ['former-gone'] }),
  'acme/twin': chat(),
  'other/twin': chat(),
  'acme/fp8': chat({ hugging_face_id: 'Acme-AI/Writer-8B' }),
  'a/b/c': chat(),
  'acme/picture': { engine: 'simulator', kind: 'image', capabilities: { image: defaultImage } },
  'acme/ruleless': { engine: 'simulator', kind: 'image' },
  'acme/songless': { engine: 'simulator', kind: 'music' },
  'acme/clipless': { engine: 'simulator', kind: 'video' },
};

const config = (defaults: CatalogConfig['defaults'] = {}): CatalogConfig => ({
  engines: {},
  models: Object.entries(rows).map(([id, row]) => resolveRow(id, row)),
  defaults,
  servedList: undefined,
});

/** The id found, with its variant; or the status and message of the failure. */
const outcome = (run: () => { model: Model; variant: string | undefined }): string => {
  try {
    const { model, variant } = run();
    return variant === undefined ? model.id : `${model.id} as ${variant}`;
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${error.message}`;
    throw error;
  }
};

t.test('resolve', async (t) => {
  const catalog = createCatalog(config());
  const cases: readonly [id: string | undefined, kind: ModelKind, expected: string][] = [
    ['acme/writer', 'chat', 'acme/writer'],
    ['plain', 'chat', 'plain'],
    ['a/b/c', 'chat', 'a/b/c'],
    ['acme/writer:express', 'chat', 'acme/writer as express'],
    ['acme/writer:', 'chat', 'acme/writer'],
    ['acme/writer:a:b', 'chat', 'acme/writer as a:b'],
    ['acme/writer-normalize', 'chat', 'acme/writer'],
    ['acme/writer-normalize:express', 'chat', 'acme/writer as express'],
    ['acme/writer:express-normalize', 'chat', 'acme/writer as express'],
    ['acme/ends-normalize', 'chat', 'acme/ends-normalize'],
    ['anthropic/acme/writer', 'chat', 'acme/writer'],
    ['anthropic/acme/writer:express', 'chat', 'acme/writer as express'],
    ['anthropic/plain-normalize', 'chat', 'plain'],
    ['acme/old', 'chat', 'acme/writer'],
    ['anthropic/old:express', 'chat', 'acme/writer as express'],
    ['acme/secret', 'chat', 'acme/secret'],
    [undefined, 'chat', 'acme/writer'],
    [undefined, 'image', 'acme/picture'],
    ['acme/ruleless', 'image', 'acme/ruleless'],
    ['acme/songless', 'music', 'acme/songless'],
    [undefined, 'speech', '404 No model was named and there is no default speech model'],
    ['acme/gone', 'chat', '404 No model named "acme/gone"'],
    ['former-gone', 'chat', '404 No model named "former-gone"'],
    ['Acme/Writer', 'chat', '404 No model named "Acme/Writer"'],
    ['writer', 'chat', '404 No model named "writer"'],
    ['', 'chat', '404 No model named ""'],
    ['__proto__', 'chat', '404 No model named "__proto__"'],
    ['acme/picture', 'chat', '404 "acme/picture" is of kind image; this route takes models of kind chat'],
    ['acme/writer', 'image', '404 "acme/writer" is of kind chat; this route takes models of kind image'],
    ['x'.repeat(300), 'chat', `404 No model named "${'x'.repeat(200)}…"`],
  ];
  for (const [id, kind, expected] of cases)
    t.equal(
      outcome(() => catalog.resolve(id, kind)),
      expected,
      `${id} as ${kind}`,
    );
  t.equal(
    catalog.resolve('plain', 'chat'),
    catalog.resolve('plain', 'chat'),
    'nothing is made for a plain id',
  );
});

t.test('default models', async (t) => {
  const of = (defaults: CatalogConfig['defaults']) =>
    outcome(() => createCatalog(config(defaults)).resolve(undefined, 'chat'));
  t.equal(of({ chat: 'plain' }), 'plain');
  t.equal(of({ chat: 'acme/secret' }), 'acme/secret', 'a private one if the operator says so');
  const onlySecret = new Set(['acme/secret']);
  t.match(
    outcome(() => createCatalog(config(), onlySecret).resolve(undefined, 'chat')),
    /^404/,
    'never a private one by itself',
  );
  t.equal(
    outcome(() =>
      createCatalog(config({ chat: 'acme/writer' }), new Set(['plain'])).resolve(undefined, 'chat'),
    ),
    'plain',
    'the first served one when the default is not deployed',
  );
});

t.test('find: exact, private ones too', async (t) => {
  const catalog = createCatalog(config());
  for (const [id, found] of [
    ['acme/writer', true],
    ['acme/secret', true],
    ['acme/gone', false],
    ['acme/old', false],
    ['acme/writer:express', false],
    ['ACME/writer', false],
  ] as const)
    t.equal(catalog.find(id)?.id, found ? id : undefined, id);
});

t.test('findPublic', async (t) => {
  const catalog = createCatalog(config());
  const cases: readonly [author: string, slug: string, expected: string | undefined][] = [
    ['acme', 'writer', 'acme/writer'],
    ['anyone', 'writer', 'acme/writer'],
    ['anyone', 'acme/writer', 'acme/writer'],
    ['anyone', 'plain', 'plain'],
    ['a', 'b/c', 'a/b/c'],
    ['anyone', 'a/b/c', 'a/b/c'],
    ['acme', 'writer:express', 'acme/writer'],
    ['anyone', 'acme/writer:free', 'acme/writer'],
    ['acme', 'writer-normalize', 'acme/writer'],
    ['acme', 'ends-normalize', 'acme/ends-normalize'],
    ['acme', 'old', 'acme/writer'],
    ['anyone', 'old', 'acme/writer'],
    ['anyone', 'acme/old:express', 'acme/writer'],
    ['Acme-AI', 'Writer-8B', 'acme/writer'],
    ['acme-ai', 'WRITER-8b', 'acme/writer'],
    ['anyone', 'acme-ai/writer-8b', 'acme/writer'],
    ['anyone', 'ACME-AI/WRITER-8B:free', 'acme/writer'],
    ['other', 'twin', 'other/twin'],
    ['acme', 'twin', 'acme/twin'],
    ['anyone', 'twin', undefined],
    ['anthropic', 'acme/writer', 'acme/writer'],
    ['acme', 'picture', 'acme/picture'],
    ['acme', 'ruleless', undefined],
    ['acme', 'songless', undefined],
    ['acme', 'clipless', undefined],
    ['acme', 'secret', undefined],
    ['anyone', 'secret', undefined],
    ['anyone', 'former-secret', undefined],
    ['acme-ai', 'secret', undefined],
    ['acme', 'gone', undefined],
    ['anyone', 'former-gone', undefined],
    ['Acme', 'WRITER', undefined],
    ['anyone', 'nothing', undefined],
    ['', '', undefined],
  ];
  for (const [author, slug, expected] of cases)
    t.equal(catalog.findPublic(author, slug)?.id, expected, `${author} ${slug}`);
});

t.test(
  'list: served and public, in the order of the rows, the same array while nothing changes',
  async (t) => {
    const catalog = createCatalog(config());
    t.same(
      catalog.list().map((model) => model.id),
      Object.keys(rows).filter((id) => !/secret|gone|less$/.test(id)),
    );
    t.equal(catalog.list(), catalog.list());
  },
);

t.test('any name either finds a model or gives 404', async (t) => {
  const catalog = createCatalog(config());
  const anyName = fc.property(fc.string(), fc.string(), (author, slug) => {
    catalog.findPublic(author, slug);
    const said = outcome(() => catalog.resolve(author, 'chat'));
    return said.startsWith('404 ') || rows[said.split(' as ')[0] ?? ''] !== undefined;
  });
  t.doesNotThrow(() => fc.assert(anyName, { numRuns: 500 }));
});

t.test('replace, and files that are lost meanwhile', async (t) => {
  const catalog = createCatalog(config());
  const status = (run: () => unknown): number => {
    try {
      run();
      return 200;
    } catch (error) {
      return error instanceof ApiError ? error.status : 0;
    }
  };
  const all = () => ({
    list: status(() => catalog.list()),
    find: status(() => catalog.find('plain')),
    findPublic: status(() => catalog.findPublic('x', 'plain')),
    resolve: status(() => catalog.resolve('plain', 'chat')),
  });
  const inService = () => catalog.inService().map((model) => model.id);
  const fine = { list: 200, find: 200, findPublic: 200, resolve: 200 };
  t.same(all(), fine);
  const served = inService();
  const isPrivate = (id: string) => catalog.find(id)?.private === true;
  t.ok(served.some(isPrivate), 'private models are in service too');
  t.same(
    served.filter((id) => !isPrivate(id)),
    catalog.list().map((model) => model.id),
  );
  catalog.loseFile();
  t.same(inService(), served);
  t.same(all(), { list: 502, find: 200, findPublic: 502, resolve: 200 }, 'models stay in service');
  catalog.replace(config());
  t.same(all(), fine);
  catalog.loseServedList();
  t.same(all(), { list: 503, find: 503, findPublic: 503, resolve: 503 });
  t.same(inService(), []);
  catalog.replace(config(), new Set(['plain', 'no-such-row']));
  t.same(all(), fine);
  t.same(inService(), ['plain']);
  t.same(
    catalog.list().map((model) => model.id),
    ['plain'],
  );
  t.equal(
    status(() => catalog.resolve('no-such-row', 'chat')),
    404,
    'listed as served, but its row is missing',
  );
  const held = catalog.resolve('plain', 'chat').model;
  catalog.replace({ ...config(), models: [] });
  t.equal(held.id, 'plain', 'who holds a model keeps it');
  t.same(catalog.list(), []);
});

t.test('entries', async (t) => {
  const models = [...defaultCatalog.models, ...config().models];
  for (const model of models) {
    const entry = modelEntry(model);
    t.ok(Value.Check(ModelEntry, entry), `${model.id} has the contract's shape`);
    t.ok(Value.Check(MessagesModel, messagesModel(model, model.id)));
    t.equal(entry.canonical_slug, model.id);
    t.equal(entry.supported_voices === null, model.kind !== 'speech');
  }
  const entryOf = (id: string) => {
    const model = models.find((candidate) => candidate.id === id);
    if (model === undefined) throw new Error(id);
    return modelEntry(model);
  };
  t.same(entryOf('sluice/reasoner'), {
    id: 'sluice/reasoner',
    object: 'model',
    owned_by: 'sluice',
    canonical_slug: 'sluice/reasoner',
    hugging_face_id: null,
    name: 'Reasoner',
    created: 1_767_225_600,
    description: 'Chat that thinks before it answers; efforts and thinking budgets are enforced.',
    context_length: 131_072,
    architecture: {
      modality: 'text->text',
      input_modalities: ['text'],
      output_modalities: ['text'],
      tokenizer: 'simulator',
      instruct_type: null,
    },
    pricing: {
      prompt: '0.0000006',
      completion: '0.0000024',
      internal_reasoning: '0.0000024',
      input_cache_read: '0.00000006',
    },
    top_provider: { context_length: 131_072, max_completion_tokens: 65_536, is_moderated: false },
    per_request_limits: null,
    supported_parameters: entryOf('sluice/chat').supported_parameters.concat(
      'reasoning',
      'reasoning_effort',
      'include_reasoning',
    ),
    default_parameters: { temperature: 1, top_p: 1 },
    supported_voices: null,
    links: { details: '/v1/model/sluice/reasoner' },
    reasoning: {
      mandatory: false,
      supports_max_tokens: true,
      supported_efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
      default_effort: 'medium',
      default_enabled: true,
    },
  });
  t.equal('reasoning' in entryOf('sluice/chat'), false, 'absent, not null');
  t.equal(entryOf('plain').links.details, '/v1/model/sluice/plain');
  t.equal(entryOf('acme/writer').hugging_face_id, 'Acme-AI/Writer-8B');
  t.same(
    modelEntry(resolveRow('x', chat({ reasoning: { mandatory: true, wire: { effort_field: 'effort' } } })))
      .reasoning,
    { mandatory: true },
    'what is not known is left out, what the engine is told stays inside',
  );
  const facts = Object.fromEntries(
    ['chat', 'embed', 'decide', 'image', 'video', 'music', 'speech', 'transcribe'].map((name) => {
      const { context_length, pricing, architecture } = entryOf(`sluice/${name}`);
      return [name, [context_length, pricing.prompt, pricing.completion, architecture.modality]];
    }),
  );
  t.same(facts, {
    chat: [131_072, '0.0000003', '0.0000012', 'text->text'],
    embed: [8192, '0.00000002', '0', 'text->embeddings'],
    decide: [16_384, '0.0000001', '0', 'text->decisions'],
    image: [null, '0', '0.005', 'text->image'],
    video: [null, '0', '0.04', 'text+image+video+audio->video'],
    music: [null, '0', '0.002', 'text->music'],
    speech: [null, '0', '0.0003', 'text+audio->speech'],
    transcribe: [null, '0.0001', '0', 'audio->transcription'],
  });
  const prices = Object.entries(kindDefaults).map(([kind, { tokenContext, priced }]) => [
    kind,
    tokenContext ? 'tokens' : 'none',
    priced,
  ]);
  t.same(
    prices,
    [
      ['chat', 'tokens', 'both'],
      ['embedding', 'tokens', 'prompt'],
      ['decision', 'tokens', 'prompt'],
      ['rerank', 'tokens', 'prompt'],
      ['image', 'none', 'completion'],
      ['video', 'none', 'completion'],
      ['music', 'none', 'completion'],
      ['speech', 'none', 'completion'],
      ['transcription', 'none', 'prompt'],
    ],
    'which kinds have a context length, and which half of the price they may have',
  );
  t.same(entryOf('sluice/speech').per_request_limits, {
    prompt_tokens: 0,
    completion_tokens: 0,
    max_prompt_length: 4096,
  });
});
