/** Tests that invalid vector store and RAG requests get an error that names the field. */
import t from 'tap';
import { maxForm, maxUpload } from '../../pipelines/vector-stores/receive-upload.ts';
import { namedField } from '../envelope.ts';
import { pdf } from '../offload/sample-documents.ts';
import { startStores, text } from './stores.ts';

const { gateway, create, add } = await startStores();
t.teardown(() => gateway.stop());

const { id } = await create();
const { body: file } = await add(id, text('The moon pulls on the sea.'));
const [item = ''] = file.item_ids;

interface Case {
  readonly method: string;
  readonly path: string;
  readonly body?: string | Buffer | FormData;
  readonly type?: string;
  readonly key?: string | null;
  readonly status?: number;
  readonly message: string;
}

const kinds: Readonly<Record<number, readonly [type: string, errorType: string]>> = {
  400: ['validation_error', 'invalid_request'],
  401: ['auth_error', 'authentication'],
  404: ['not_found_error', 'not_found'],
  405: ['invalid_request_error', 'invalid_request'],
  413: ['invalid_request_error', 'payload_too_large'],
};

const store = `/vector_store/${id}`;
const post = (path: string, body: unknown, message: string): Case => ({
  method: 'POST',
  path,
  body: JSON.stringify(body),
  type: 'application/json',
  message,
});
const create_ = (body: unknown, message: string): Case => post('/vector_store', body, message);
const search = (body: unknown, message: string): Case => post(`${store}/search`, body, message);
const query = (body: unknown, message: string): Case => post(`/vector_stores/${id}/search`, body, message);
const patch = (body: unknown, message: string, of = item): Case => ({
  ...post(`${store}/items/${of}`, body, message),
  method: 'PATCH',
});
const get = (path: string, message: string): Case => ({ method: 'GET', path, message });
const remove = (path: string, message: string): Case => ({ method: 'DELETE', path, message });

const form = (fields: Readonly<Record<string, string | File>>): FormData => {
  const made = new FormData();
  for (const [name, value] of Object.entries(fields)) made.append(name, value);
  return made;
};
const upload = (fields: Readonly<Record<string, string | File>>, message: string): Case => ({
  method: 'POST',
  path: `${store}/files`,
  body: form(fields),
  message,
});
const file_ = (content: string | Buffer, name: string, message: string): Case =>
  upload({ file: new File([content], name) }, message);
const good = text('words');
const static_ = (max_chunk_size_tokens: unknown, chunk_overlap_tokens: unknown): string =>
  JSON.stringify({ type: 'static', static: { max_chunk_size_tokens, chunk_overlap_tokens } });

const messages = [{ role: 'user', content: 'What pulls on the sea?' }];
const rag = (body: object, message: string, status = 400): Case => ({
  ...post('/chat/completions/RAG', body, message),
  status,
});
const model = 'sluice/chat';

const cases: readonly Case[] = [
  create_({ name: 7 }, 'name must be a string'),
  create_({ name: 'x'.repeat(257) }, 'name must have at most 256 characters'),
  create_({ description: ['x'] }, 'description must be a string'),
  create_({ metadata: { a: 1 } }, 'metadata.a must be a string'),
  create_({ metadata: { 'a\nb': 1 } }, 'metadata["a\\nb"] must be a string'),
  create_({ metadata: { a: 'x'.repeat(513) } }, 'metadata.a must have at most 512 characters'),
  create_({ metadata: { ['k'.repeat(65)]: 'x' } }, 'metadata must have keys of at most 64 characters'),
  create_({ metadata: 'x' }, 'metadata must be an object'),
  create_(
    { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, 'v'])) },
    'metadata must have at most 16 fields',
  ),
  { ...create_({ embedding_model: 'no/such' }, 'No model named "no/such"'), status: 404 },
  {
    ...create_(
      { embedding_model: 'sluice/chat' },
      '"sluice/chat" is of kind chat; this route takes models of kind embedding',
    ),
    status: 404,
  },
  { ...create_({}, 'The request body is not valid JSON: unexpected end at line 1 column 2'), body: '{' },
  { ...create_({}, 'content-type must be application/json, but none was sent'), type: '' },
  create_([], 'The request body must be a JSON object, not an array'),

  get('/vector_store?limit=0', 'limit must be an integer from 1 to 100'),
  get('/vector_store?limit=101', 'limit must be an integer from 1 to 100'),
  get('/vector_store?limit=ten', 'limit must be an integer from 1 to 100'),
  get('/vector_store?order=up', 'order must be asc or desc'),
  get(`/vector_store?after=${'x'.repeat(101)}`, 'after must be an id out of the list'),
  get('/vector_store/vs_none', 'id: there is no vector store "vs_none"'),
  remove('/vector_store/vs_none', 'id: there is no vector store "vs_none"'),
  get('/vector_store/vs_none/files', 'id: there is no vector store "vs_none"'),
  get('/vector_store/vs_none/items', 'id: there is no vector store "vs_none"'),
  get(`${store}/files?order=x`, 'order must be asc or desc'),
  get(`${store}/files/file-none`, 'fileid: there is no file "file-none"'),
  remove(`${store}/files/file-none`, 'fileid: there is no file "file-none"'),
  get(`${store}/items?limit=1.5`, 'limit must be an integer from 1 to 100'),
  get(`${store}/items?file_id=file-none`, 'file_id: there is no file "file-none"'),

  search({}, 'input is required'),
  search({ input: null }, 'input must be a string'),
  search({ input: '' }, 'input must not be empty'),
  search({ input: ' \n' }, 'input must not be empty'),
  search({ input: ['moon'] }, 'input must be a string'),
  search({ input: 'moon', max_num_results: 0 }, 'max_num_results must be between 1 and 50'),
  search({ input: 'moon', max_num_results: 51 }, 'max_num_results must be between 1 and 50'),
  search({ input: 'moon', max_num_results: 2.5 }, 'max_num_results must be an integer'),
  search({ input: 'moon', score_threshold: 1.1 }, 'score_threshold must be between 0 and 1'),
  search({ input: 'moon', score_threshold: '0.5' }, 'score_threshold must be a number'),
  post('/vector_store/vs_none/search', { input: 'moon' }, 'id: there is no vector store "vs_none"'),
  query({}, 'query is required'),
  query({ query: 5 }, 'query must be a string or an array'),
  query({ query: [] }, 'query must have at least 1 item'),
  query({ query: ['moon', ' '] }, 'query[1] must not be empty'),
  query(
    { query: 'moon', filters: { type: 'eq', key: 'a', value: 1 } },
    'filters is not supported: items cannot be searched by attributes',
  ),

  upload({}, 'file is required'),
  upload({ attributes: '{}' }, 'file is required'),
  upload({ file: 'just text' }, 'file must be a file: send it with a filename'),
  file_('', 'empty.txt', 'file: the file is empty'),
  file_(' \n\t ', 'blank.txt', 'file: the file holds no text'),
  file_(
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]),
    'notes.txt',
    'file: the file is image/png, which holds no text',
  ),
  file_(Buffer.from([1, 2, 0, 3]), 'data.txt', 'file: the file is not a PDF, a DOCX or text'),
  file_(
    Buffer.from([0xcb, 0xb8, 0xe4]),
    'ice.txt',
    'file: the file cannot be read: its text is in an encoding that cannot be determined; save it as UTF-8 and send it again',
  ),
  file_('{\\rtf1 hello}', 'a.rtf', 'file: RTF documents are not supported; send PDF, DOCX or plain text'),
  file_(
    Buffer.from('d0cf11e0a1b11ae10000', 'hex'),
    'old.doc',
    'file: the file is encrypted or in an old Office format; send it as PDF or as an open DOCX',
  ),
  file_('%PDF-1.4 and then nothing', 'broken.pdf', 'file: the PDF is damaged and cannot be read'),
  file_(pdf(['']), 'scan.pdf', 'file: the PDF holds no text; its pages may be scanned pictures'),
  file_(Buffer.from('PK\x03\x04 no archive'), 'a.docx', 'file: the DOCX is damaged and cannot be read'),
  file_('<!doctype html><script>only()</script>', 'a.html', 'file: the document holds no text'),
  upload({ file: good, chunking_strategy: 'auto' }, 'chunking_strategy must be JSON'),
  upload(
    { file: good, chunking_strategy: '{"type":"some"}' },
    'chunking_strategy.type must be one of "auto", "static"',
  ),
  upload({ file: good, chunking_strategy: '{"type":"static"}' }, 'chunking_strategy.static is required'),
  upload(
    { file: good, chunking_strategy: static_(99, 0) },
    'chunking_strategy.static.max_chunk_size_tokens must be between 100 and 4096',
  ),
  upload(
    { file: good, chunking_strategy: static_(200, -1) },
    'chunking_strategy.static.chunk_overlap_tokens must be between 0 and 2048',
  ),
  upload(
    { file: good, chunking_strategy: static_(200, 101) },
    'chunking_strategy.static.chunk_overlap_tokens must be at most half of max_chunk_size_tokens',
  ),
  upload(
    { file: good, attributes: JSON.stringify({ ['k'.repeat(65)]: 'x' }) },
    'attributes must have keys of at most 64 characters',
  ),
  upload({ file: good, attributes: '[]' }, 'attributes must be an object'),
  upload({ file: good, attributes: '{"a":{}}' }, 'attributes.a must be a string, a number or true or false'),
  {
    ...upload({ file: good }, 'id: there is no vector store "vs_none"'),
    path: '/vector_store/vs_none/files',
  },
  {
    ...post(`${store}/files`, {}, 'content-type must be multipart/form-data, not "application/json"'),
  },
  {
    method: 'POST',
    path: `${store}/files`,
    type: 'multipart/form-data; boundary=B',
    body: '--B\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhalf of it',
    message: 'The form ends before its closing boundary',
  },

  patch({}, 'description is required'),
  patch({ description: 5 }, 'description must be a string'),
  patch({ description: null }, 'description must be a string'),
  patch({ description: 'x'.repeat(8193) }, 'description must have at most 8192 characters'),
  patch({ description: 'x' }, 'itemid: there is no item "item_none"', 'item_none'),
  {
    ...patch({ description: 'x' }, 'id: there is no vector store "vs_none"'),
    path: `/vector_store/vs_none/items/${item}`,
  },
  remove(`${store}/items/item_none`, 'itemid: there is no item "item_none"'),
  remove(`/vector_store/vs_none/items/${item}`, 'id: there is no vector store "vs_none"'),

  rag({ messages, model }, 'collection is required'),
  rag({ messages, model, collection: 5 }, 'collection must be a string'),
  rag({ messages, collection: id }, 'model is required'),
  rag({ model, collection: id }, 'messages is required'),
  rag({ model, collection: id, messages: [] }, 'messages must have at least 1 item'),
  rag({ model, collection: 'vs_none', messages }, 'collection: there is no vector store "vs_none"'),
  rag({ model: 'no/such', collection: id, messages }, 'No model named "no/such"', 404),
  rag({ model, collection: id, messages, temperature: 3 }, 'temperature must be between 0 and 2'),
  rag(
    { model, collection: id, messages, max_completion_tokens: 0 },
    'max_completion_tokens must be at least 1',
  ),
  rag(
    { model, collection: id, messages: [{ role: 'king', content: 'x' }] },
    'messages[0].role must be one of "system", "developer", "user", "assistant", "tool"',
  ),
  rag(
    { model, collection: id, messages, tool_choice: 'required' },
    'tool_choice needs tools unless it is none',
  ),

  { ...get(`${store}/files`, 'No API key provided'), key: null, status: 401 },
  { ...search({ input: 'moon' }, 'Invalid API key'), key: 'sk-wrong', status: 401 },
  { ...upload({ file: good }, 'Invalid API key'), key: 'sk-wrong', status: 401 },
  { ...rag({}, 'No API key provided'), key: null, status: 401 },
  {
    ...get(`${store}/search`, ''),
    status: 405,
    message: `GET is not allowed on /v1${store}/search; it takes POST, OPTIONS`,
  },
];

for (const { method, path, body, type, key = gateway.key, status = 400, message } of cases)
  t.test(`${method} ${path.replaceAll(id, '{id}').slice(0, 60)}: ${message.slice(0, 80)}`, async (t) => {
    const response = await fetch(gateway.url + path, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(type === undefined ? {} : { 'content-type': type }),
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' && type === '' ? new Blob([body]) : body }),
    });
    const [errorType, code] = kinds[status] ?? [];
    t.equal(response.status, status);
    t.same(await response.json(), {
      error: {
        code: status,
        message,
        type: errorType,
        param: namedField(status, message),
        metadata: { error_type: code },
      },
    });
  });

t.test('a file may have 100 MiB, and its form a little more', async (t) => {
  t.same([maxUpload, maxForm], [104_857_600, 105_906_176]);
});

t.test('refused requests leave nothing behind', async (t) => {
  t.ok(cases.length >= 80, `${cases.length} cases`);
  const left = await (
    await fetch(`${gateway.url}${store}`, { headers: { authorization: `Bearer ${gateway.key}` } })
  ).json();
  t.match(left, { item_count: 1, file_counts: { in_progress: 0, completed: 1, failed: 0, total: 1 } });
});
