/** Tests the vector store routes over a real socket: files, search, ownership, billing and SDKs. */
import OpenAI from 'openai';
import t from 'tap';
import { Compile } from 'typebox/compile';
import {
  SearchPage,
  VectorStore,
  VectorStoreFile,
  VectorStoreFileList,
  VectorStoreItem,
  VectorStoreItemList,
  VectorStoreList,
} from '../../schemas/vector-stores/vector-store.ts';
import { countTokens } from '../../src/tokens/simulator.ts';
import { envelope } from '../envelope.ts';
import { cidPdf, docx, paragraph, pdf, shown, zip } from '../offload/sample-documents.ts';
import { encodeAs, samples } from '../offload/sample-languages.ts';
import { type Said, startStores, strangerTo, text } from './stores.ts';

const { gateway, events, call, create, add, search } = await startStores();
t.teardown(() => gateway.stop());

const isStore = Compile(VectorStore);
const isStoreList = Compile(VectorStoreList);
const isFile = Compile(VectorStoreFile);
const isFileList = Compile(VectorStoreFileList);
const isItem = Compile(VectorStoreItem);
const isItemList = Compile(VectorStoreItemList);
const isPage = Compile(SearchPage);

const tides = 'The moon pulls on the sea, and the water rises twice a day. Spring tides come at new moon.';
const bread = 'Yeast makes bread rise. A hot oven gives it a crust.';

t.test('a vector store is created, read, listed and deleted', async (t) => {
  const made = await call<VectorStore>('POST', '/vector_store', {
    name: 'guides',
    description: 'What we know',
    metadata: { team: 'sea' },
  });
  t.equal(made.status, 201);
  t.ok(isStore.Check(made.body), JSON.stringify(isStore.Errors(made.body)));
  const { id, created_at } = made.body;
  t.match(id, /^vs_[0-9a-f]{24}$/);
  t.same(made.body, {
    id,
    object: 'vector_store',
    name: 'guides',
    description: 'What we know',
    created_at,
    last_active_at: created_at,
    status: 'completed',
    usage_bytes: 0,
    file_counts: { in_progress: 0, completed: 0, failed: 0, cancelled: 0, total: 0 },
    item_count: 0,
    metadata: { team: 'sea' },
    expires_at: null,
    embedding_model: 'sluice/embed',
  });
  const read = await call('GET', `/vector_store/${id}`);
  t.equal(read.status, 200);
  t.same(read.body, made.body);

  const second = await create({ embedding_model: 'sluice/embed-instruct' });
  t.equal(second.embedding_model, 'sluice/embed-instruct');
  t.equal(second.name, null);
  const list = await call<{ data: { id: string }[]; has_more: boolean }>('GET', '/vector_store?limit=1');
  t.ok(isStoreList.Check(list.body), JSON.stringify(isStoreList.Errors(list.body)));
  t.same(
    list.body.data.map((entry) => entry.id),
    [second.id],
    'the newest first',
  );
  t.equal(list.body.has_more, true);
  const next = await call<{ data: { id: string }[] }>('GET', `/vector_store?limit=1&after=${second.id}`);
  t.equal(next.body.data[0]?.id, id);
  const back = await call<{ data: { id: string }[] }>('GET', `/vector_store?order=asc&before=${second.id}`);
  t.equal(back.body.data.at(-1)?.id, id);

  const gone = await call('DELETE', `/vector_store/${id}`);
  t.equal(gone.status, 200);
  t.same(gone.body, { id, object: 'vector_store.deleted', deleted: true });
  t.equal((await call('GET', `/vector_store/${id}`)).status, 400);
  t.equal((await call('DELETE', `/vector_store/${id}`)).status, 400);
});

t.test('a small text is stored and billed before the response', async (t) => {
  const store = await create();
  const before = events.length;
  const { status, body } = await add(store.id, text(tides, 'tides.txt'), {
    attributes: '{"year":2026,"wet":true}',
  });
  t.equal(status, 201);
  t.ok(isFile.Check(body), JSON.stringify(isFile.Errors(body)));
  t.match(body.id, /^file-[0-9a-f]{24}$/);
  t.same(body, {
    id: body.id,
    object: 'vector_store.file',
    vector_store_id: store.id,
    filename: 'tides.txt',
    bytes: Buffer.byteLength(tides),
    usage_bytes: 384 * 4,
    media_type: 'text/plain',
    created_at: body.created_at,
    status: 'completed',
    last_error: null,
    attributes: { year: 2026, wet: true },
    chunking_strategy: {
      type: 'static',
      static: { max_chunk_size_tokens: 320, chunk_overlap_tokens: 40 },
    },
    item_count: 1,
    item_ids: body.item_ids,
  });
  t.equal(body.item_ids.length, 1);
  t.match(events.slice(before), [
    {
      id: `usage_${body.id}_0`,
      route: '/vector_store/{id}/files',
      model: 'sluice/embed',
      outcome: 'completed',
      quantities: { prompt_tokens: countTokens(tides), inputs: 1 },
    },
  ]);
  t.same((await call('GET', `/vector_store/${store.id}/files/${body.id}`)).body, body);
  const files = await call('GET', `/vector_store/${store.id}/files`);
  t.ok(isFileList.Check(files.body), JSON.stringify(isFileList.Errors(files.body)));
  t.match(files.body, { data: [body], has_more: false, first_id: body.id, last_id: body.id });
  t.match((await call('GET', `/vector_store/${store.id}`)).body, {
    status: 'completed',
    usage_bytes: 384 * 4,
    file_counts: { in_progress: 0, completed: 1, failed: 0, cancelled: 0, total: 1 },
    item_count: 1,
  });
  t.equal(await gateway.ports.blobs.stat(`uploads/${body.id}`), undefined, 'the upload is not kept');
});

t.test('search', async (t) => {
  const store = await create();
  const [sea, oven] = await Promise.all([
    add(store.id, text(tides, 'tides.txt'), { attributes: '{"subject":"sea"}' }),
    add(store.id, text(bread, 'bread.txt')),
  ]);
  const before = events.length;
  const said = await call<SearchPage>('POST', `/vector_store/${store.id}/search`, {
    input: 'When do spring tides come?',
  });
  t.equal(said.status, 200);
  t.ok(isPage.Check(said.body), JSON.stringify(isPage.Errors(said.body)));
  const { data } = said.body;
  t.same(said.body, {
    object: 'vector_store.search_results.page',
    search_query: ['When do spring tides come?'],
    data: [
      {
        id: sea.body.item_ids[0],
        file_id: sea.body.id,
        filename: 'tides.txt',
        score: data[0]?.score,
        description: '',
        attributes: { subject: 'sea' },
        content: [{ type: 'text', text: tides }],
        index: 0,
      },
      {
        id: oven.body.item_ids[0],
        file_id: oven.body.id,
        filename: 'bread.txt',
        score: data[1]?.score,
        description: '',
        attributes: {},
        content: [{ type: 'text', text: bread }],
        index: 0,
      },
    ],
    has_more: false,
    next_page: null,
  });
  const [first = 0, second = 1] = data.map(({ score }) => score);
  t.ok(first > second && first <= 1 && second >= 0, `${first} ${second}`);
  t.match(events.slice(before), [
    { route: '/vector_store/{id}/search', outcome: 'completed', quantities: { inputs: 1 } },
  ]);

  t.equal((await search(store.id, 'tides', { max_num_results: 1 })).length, 1);
  t.same(await search(store.id, 'tides', { score_threshold: 1 }), []);
  const near = await search(store.id, 'When do spring tides come?', {
    score_threshold: (first + second) / 2,
  });
  t.same(
    near.map(({ filename }) => filename),
    ['tides.txt'],
  );
  t.same(await search((await create()).id, 'tides'), [], 'an empty store');
});

t.test('files of each kind, whatever they are called', async (t) => {
  const store = await create();
  const kinds: readonly (readonly [name: string, content: string | Buffer, type: string, found: string])[] = [
    ['plain', 'Whales sing in the deep.', 'text/plain', 'Whales sing in the deep.'],
    ['guide.md', '# Herons\n\nHerons stand still.', 'text/markdown', '# Herons\n\nHerons stand still.'],
    [
      'page.txt',
      '<!doctype html><title>Otters</title><script>hidden()</script><p>Otters hold hands.</p>',
      'text/html',
      'Otters\nOtters hold hands.',
    ],
    ['table.csv', 'name,food\nstork,frogs\n', 'text/csv', 'name,food\nstork,frogs'],
    [
      'data.json',
      '{"animal":"lynx","ears":"pointed"}',
      'application/json',
      '{"animal":"lynx","ears":"pointed"}',
    ],
    ['report.bin', pdf([shown('Badgers dig at night.')]), 'application/pdf', 'Badgers dig at night.'],
    [
      'letter.pdf',
      docx(paragraph('Salmon swim upstream.') + paragraph('They leap.')),
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      'Salmon swim upstream.\n\nThey leap.',
    ],
    ['wide.txt', Buffer.from('\ufeffGeese fly south.', 'utf16le'), 'text/plain', 'Geese fly south.'],
    ['latin.txt', Buffer.from('Käfer fliegen.', 'latin1'), 'text/plain', 'Käfer fliegen.'],
    ...samples
      .filter(({ language }) => /^(?:Russian|Polish|Japanese|Chinese, simplified|Korean)$/.test(language))
      .map(({ text, encodings: [label = ''] }) => {
        return [`${label}.txt`, encodeAs(label, text), 'text/plain', text] as const;
      }),
    ['unmarked.txt', Buffer.from('Owls see at night.\n', 'utf16le'), 'text/plain', 'Owls see at night.'],
    [
      'utf16.pdf',
      cidPdf(Buffer.from('水門が開く', 'utf16le').swap16(), {
        encoding: 'UniJIS-UTF16-H',
        ordering: 'Japan1',
      }),
      'application/pdf',
      '水門が開く',
    ],
    ['marked.txt', '\ufeffMoles are blind.', 'text/plain', 'Moles are blind.'],
  ];
  for (const [name, content, type, found] of kinds) {
    const { status, body } = await add(store.id, new File([content], name));
    t.equal(status, 201, `${name}: ${body.error?.message}`);
    t.match(body, { status: 'completed', media_type: type, filename: name, item_count: 1 });
    const [best] = await search(store.id, found);
    t.match(best, { file_id: body.id, content: [{ type: 'text', text: found }] }, name);
  }
});

t.test('a file name has no path', async (t) => {
  const store = await create();
  for (const [sent, kept] of [
    ['C:\\secret\\наука.txt', 'наука.txt'],
    ['../../etc/passwd', 'passwd'],
    ['a\u202eb.txt', 'ab.txt'],
    ['x'.repeat(300), 'x'.repeat(255)],
  ] as const) {
    const { body } = await add(store.id, text('words', sent));
    t.equal(body.filename, kept);
  }
});

t.test('a longer text is chunked as requested, and its items are listed in order', async (t) => {
  const store = await create();
  const sentences = Array.from({ length: 120 }, (_, at) => `Sentence number ${at} speaks of item ${at * 7}.`);
  const { body } = await add(store.id, text(sentences.join(' '), 'long.txt'), {
    chunking_strategy: JSON.stringify({
      type: 'static',
      static: { max_chunk_size_tokens: 100, chunk_overlap_tokens: 20 },
    }),
  });
  t.same(body.chunking_strategy, {
    type: 'static',
    static: { max_chunk_size_tokens: 100, chunk_overlap_tokens: 20 },
  });
  t.ok(body.item_count > 10);
  const items = await call<{ data: VectorStoreItem[]; has_more: boolean }>(
    'GET',
    `/vector_store/${store.id}/items?limit=100&file_id=${body.id}`,
  );
  t.ok(isItemList.Check(items.body), JSON.stringify(isItemList.Errors(items.body)));
  const { data } = items.body;
  t.same(
    data.map(({ id }) => id),
    body.item_ids,
  );
  t.same(
    data.map(({ index }) => index),
    data.map((_, at) => at),
  );
  const texts = data.map(({ content }) => content[0]?.text ?? '');
  for (const [at, item] of texts.entries()) {
    t.ok(countTokens(item) <= 100, `${countTokens(item)} tokens`);
    t.match(item, /^Sentence number \d+ speaks/, 'begins with a sentence');
    t.match(item, /\.$/, 'ends with one');
    const before = texts[at - 1];
    if (before !== undefined) t.ok(before.includes(item.slice(0, item.indexOf('.') + 1)), 'repeats an end');
  }
  for (const sentence of sentences) t.ok(texts.some((item) => item.includes(sentence)));

  const page = await call<{ data: { id: string }[]; has_more: boolean; last_id: string }>(
    'GET',
    `/vector_store/${store.id}/items?limit=3`,
  );
  t.equal(page.body.has_more, true);
  const rest = await call<{ data: { id: string }[] }>(
    'GET',
    `/vector_store/${store.id}/items?limit=3&after=${page.body.last_id}`,
  );
  t.same(
    [...page.body.data, ...rest.body.data].map(({ id }) => id),
    body.item_ids.slice(0, 6),
  );
  const backwards = await call<{ data: { id: string }[] }>(
    'GET',
    `/vector_store/${store.id}/items?limit=2&order=desc`,
  );
  t.same(
    backwards.body.data.map(({ id }) => id),
    body.item_ids.slice(-2).reverse(),
  );
});

t.test('an updated item is found by its new text, and not after deletion', async (t) => {
  const store = await create();
  const { body: file } = await add(store.id, text(tides, 'tides.txt'));
  await add(store.id, text(bread, 'bread.txt'));
  const [item = ''] = file.item_ids;
  const path = `/vector_store/${store.id}/items/${item}`;
  t.not((await search(store.id, 'zebra crossing in Nairobi'))[0]?.score ?? 0, 1);
  const before = events.length;
  const said = await call<{ created_at: number; updated_at: number }>('PATCH', path, {
    description: 'zebra crossing in Nairobi',
  });
  t.equal(said.status, 202);
  t.ok(isItem.Check(said.body), JSON.stringify(isItem.Errors(said.body)));
  t.same(said.body, {
    id: item,
    object: 'vector_store.item',
    vector_store_id: store.id,
    file_id: file.id,
    filename: 'tides.txt',
    description: 'zebra crossing in Nairobi',
    content: [{ type: 'text', text: tides }],
    index: 0,
    created_at: said.body.created_at,
    updated_at: said.body.updated_at,
  });
  t.match(events.slice(before), [{ route: '/vector_store/{id}/items/{itemid}', outcome: 'completed' }]);
  t.same((await call('GET', path)).body, said.body);
  t.match((await search(store.id, 'zebra crossing'))[0], {
    id: item,
    description: 'zebra crossing in Nairobi',
  });
  t.equal((await search(store.id, 'spring tides'))[0]?.id, item, 'its text is still there');
  t.equal((await call('PATCH', path, { description: '' })).status, 202);

  const gone = await call('DELETE', path);
  t.equal(gone.status, 204);
  t.equal(gone.body, undefined);
  t.equal(gone.headers.get('content-length'), null);
  t.same(
    (await search(store.id, 'spring tides')).map(({ filename }) => filename),
    ['bread.txt'],
  );
  t.equal((await call('DELETE', path)).status, 400);
  t.equal((await call('PATCH', path, { description: 'again' })).status, 400);
  t.match((await call('GET', `/vector_store/${store.id}/files/${file.id}`)).body, {
    item_count: 0,
    item_ids: [],
    usage_bytes: 0,
  });
  t.match((await call('GET', `/vector_store/${store.id}`)).body, { item_count: 1 });
});

t.test('a file is deleted with its items', async (t) => {
  const store = await create();
  const { body: file } = await add(store.id, text(tides));
  const gone = await call('DELETE', `/vector_store/${store.id}/files/${file.id}`);
  t.same(gone.body, { id: file.id, object: 'vector_store.file.deleted', deleted: true });
  t.same(await search(store.id, 'tides'), []);
  t.equal((await call('GET', `/vector_store/${store.id}/files/${file.id}`)).status, 400);
  t.match((await call('GET', `/vector_store/${store.id}`)).body, {
    item_count: 0,
    file_counts: { total: 0 },
  });
});

t.test('a vector store of another subscription is not found', async (t) => {
  const store = await create({ name: 'ours' });
  const { body: file } = await add(store.id, text(tides));
  const [item = ''] = file.item_ids;
  const key = await strangerTo(gateway);
  const form = new FormData();
  form.set('file', text('theirs'));
  const absent = {
    error: {
      code: 400,
      message: `id: there is no vector store "${store.id}"`,
      type: 'validation_error',
      param: 'id',
      metadata: { error_type: 'invalid_request' },
    },
  };
  const tries: readonly (readonly [string, string, unknown?])[] = [
    ['GET', ''],
    ['DELETE', ''],
    ['GET', '/files'],
    ['POST', '/files', form],
    ['GET', `/files/${file.id}`],
    ['DELETE', `/files/${file.id}`],
    ['GET', '/items'],
    ['PATCH', `/items/${item}`, { description: 'mine' }],
    ['DELETE', `/items/${item}`],
    ['POST', '/search', { input: 'tides' }],
  ];
  for (const [method, path, body] of tries) {
    const said = await call(method, `/vector_store/${store.id}${path}`, body, key);
    t.equal(said.status, 400, `${method} ${path}`);
    t.same(said.body, absent);
  }
  const rag = await call(
    'POST',
    '/chat/completions/RAG',
    { model: 'sluice/chat', collection: store.id, messages: [{ role: 'user', content: 'tides?' }] },
    key,
  );
  t.equal(rag.body.error?.message, `collection: there is no vector store "${store.id}"`);
  t.same((await call<{ data: unknown[] }>('GET', '/vector_store', undefined, key)).body.data, []);
  const theirs = await call<VectorStore>('POST', '/vector_store', {}, key);
  const other = await call('GET', `/vector_store/${theirs.body.id}/files/${file.id}`, undefined, key);
  t.equal(other.body.error?.message, `fileid: there is no file "${file.id}"`, 'nor are its files in theirs');
  t.equal(
    (await call('DELETE', `/vector_store/${theirs.body.id}/items/${item}`, undefined, key)).status,
    400,
  );
  t.equal((await search(store.id, 'tides')).length, 1);
});

t.test('while embeddings fail', async (t) => {
  const store = await create();
  await add(store.id, text(tides));
  const { body: file } = await add(store.id, text(bread));
  const failed = async (fault: string): Promise<Said<unknown>> =>
    call('POST', `/vector_store/${store.id}/search`, { input: `/sim fail=${fault}\nmoon` });
  for (const [fault, status, body] of [
    [
      '502',
      502,
      envelope(
        502,
        'The text could not be embedded: Simulated failure 502',
        'server_error',
        'provider_unavailable',
      ),
    ],
    [
      '504',
      502,
      envelope(
        502,
        'The text could not be embedded: Simulated failure 504',
        'server_error',
        'provider_unavailable',
      ),
    ],
    [
      '500',
      502,
      envelope(
        502,
        'The text could not be embedded: Simulated failure 500',
        'server_error',
        'provider_unavailable',
      ),
    ],
    [
      '503',
      503,
      envelope(
        503,
        'Embeddings are unavailable: Simulated failure 503',
        'server_error',
        'provider_overloaded',
      ),
    ],
  ] as const) {
    const said = await failed(fault);
    t.equal(said.status, status, fault);
    t.same(said.body, body);
  }
  const [item = ''] = file.item_ids;
  const path = `/vector_store/${store.id}/items/${item}`;
  t.equal((await call('PATCH', path, { description: '/sim fail=502\nx' })).status, 502);
  t.match((await search(store.id, 'yeast'))[0], { id: item, description: '' }, 'nothing was changed');
});

t.test("OpenAI's client", async (t) => {
  const client = new OpenAI({ baseURL: gateway.url, apiKey: gateway.key });
  const store = await client.vectorStores.create({ name: 'by client', metadata: { a: 'b' } });
  t.match(store, { object: 'vector_store', name: 'by client', metadata: { a: 'b' } });
  await add(store.id, text(tides, 'tides.txt'));
  await add(store.id, text(bread, 'bread.txt'));
  const found = [];
  for await (const result of client.vectorStores.search(store.id, {
    query: 'spring tides',
    max_num_results: 5,
  }))
    found.push(result);
  t.match(found[0], { filename: 'tides.txt', content: [{ type: 'text', text: tides }], attributes: {} });
  t.equal(found.length, 2);
  const both = await client.vectorStores.search(store.id, {
    query: ['spring tides', 'oven crust'],
    ranking_options: { score_threshold: 0.2 },
  });
  t.same(both.data.map(({ filename }) => filename).sort(), ['bread.txt', 'tides.txt']);
  t.equal((await client.vectorStores.retrieve(store.id)).file_counts.completed, 2);
  const names = [];
  for await (const entry of client.vectorStores.list({ limit: 2 })) names.push(entry.name);
  t.ok(names.length > 5 && names[0] === 'by client', 'the client pages through all');
  const files = [];
  for await (const file of client.vectorStores.files.list(store.id, { limit: 1 })) files.push(file);
  t.equal(files.length, 2);
  t.match(await client.vectorStores.files.retrieve(files[0]?.id ?? '', { vector_store_id: store.id }), {
    status: 'completed',
  });
  t.match(await client.vectorStores.files.delete(files[0]?.id ?? '', { vector_store_id: store.id }), {
    deleted: true,
  });
  t.match(await client.vectorStores.delete(store.id), { id: store.id, deleted: true });
  const refused = await client.vectorStores.retrieve(store.id).catch((error: unknown) => error);
  t.ok(refused instanceof OpenAI.BadRequestError);
});

t.test('models that distinguish queries from documents get the input type', async (t) => {
  const store = await create({ embedding_model: 'sluice/embed-instruct' });
  await add(store.id, text(tides));
  const before = events.length;
  t.equal((await search(store.id, 'spring tides')).length, 1);
  const instruction = 'Instruct: Given a search query, retrieve passages that answer it\nQuery: ';
  t.equal(events[before]?.quantities.prompt_tokens, countTokens(`${instruction}spring tides`));
});

t.test('an archive that is not a document leaves nothing behind', async (t) => {
  const store = await create();
  const { status, body } = await add(store.id, new File([zip({ 'a.txt': 'x' })], 'a.zip'));
  t.equal(status, 400);
  t.equal(body.error?.message, 'file: the document is a ZIP archive, but not a DOCX');
  t.match((await call('GET', `/vector_store/${store.id}`)).body, {
    file_counts: { total: 0 },
    item_count: 0,
  });
});
