/** Tests the Offload port on real threads: results, errors, transferred buffers and cancellation. */
import t from 'tap';
import { endingOf } from '../../src/offload/ending.ts';
import { createOffload, type OffloadOptions } from '../../src/offload/offload.ts';
import { WorkerFailure } from '../../src/offload/pool-worker.ts';
import { offloaded } from '../../src/ports/offload.ts';
import { docx, paragraph } from './sample-documents.ts';

const offload = createOffload();
t.teardown(() => offload.close());

const base64 = Buffer.alloc(1_500_000, 'media').toString('base64');

t.test('JSON', async (t) => {
  const text = JSON.stringify({
    model: 'm',
    messages: [{ url: `data:image/png;base64,${base64}` }],
    list: [1, null],
  });
  const bytes = Buffer.from(text);
  const value = (await offload.parseJson(bytes)) as { messages: { url: Uint8Array }[] };
  t.equal(bytes.length, 0, 'the buffer was moved, not copied');
  const url = value.messages[0]?.url;
  t.type(url, Uint8Array);
  t.equal(Buffer.from(url ?? []).toString('latin1'), `data:image/png;base64,${base64}`);
  t.match(value, { model: 'm', list: [1, null] });

  const shared = Buffer.from(`    {"a": "é"}${' '.repeat(2000)}`).subarray(4, 16);
  t.same(await offload.parseJson(shared), { a: 'é' });
  t.same(await offload.parseJson(Buffer.from('\ufeff{"a":"é"}')), { a: 'é' }, 'behind a byte order mark');
  t.equal(shared.length, 12, 'a part of a buffer is copied');

  await t.rejects(offload.parseJson(Buffer.from('{"a":}')), {
    name: 'SyntaxError',
    message: /Unexpected token/,
  });
  await t.rejects(offload.parseJson(Buffer.from('['.repeat(300))), {
    name: 'ApiError',
    kind: 'invalid_request',
  });
});

t.test('tokens', async (t) => {
  t.equal(await offload.countTokens(['hello world', 'hello world'], 'o200k_base'), 4);
  t.equal(await offload.countTokens([], 'o200k_base'), 0);
  t.equal(await offload.countTokens(['<|endoftext|>'], 'cl100k_base'), 7, 'a special token is text');
  t.ok((await offload.countTokens(['a'.repeat(1_000_000), ' '.repeat(1_000_000)], 'unknown')) > 1000);
  const small = createOffload({ maxCounted: 10 });
  await t.rejects(small.countTokens(['123456', '78901'], 'o200k_base'), {
    name: 'ApiError',
    kind: 'payload_too_large',
    message: 'The text is longer than 10 characters',
  });
  await small.close();
});

t.test('documents', async (t) => {
  const bytes = docx(paragraph('In a document'));
  const inBase64 = bytes.toString('base64');
  t.equal(await offload.documentText({ base64: inBase64 }, 'a.docx'), 'In a document');
  const ascii = new Uint8Array(Buffer.from(`data:;base64,${inBase64}`)).subarray(13);
  t.equal(await offload.documentText({ base64: ascii }, 'a.docx'), 'In a document');
  t.equal(await offload.documentText(new Uint8Array(bytes), 'a.docx'), 'In a document');
  await t.rejects(offload.documentText(Buffer.from('abcdef'), 'a.txt', { maxCharacters: 5 }), {
    kind: 'invalid_request',
    message: 'the document holds more than 5 characters of text',
  });
  await t.rejects(offload.documentText(Buffer.alloc(9000), 'a.txt'), {
    name: 'ApiError',
    kind: 'invalid_request',
  });
});

t.test('a task that outlives its thread', async (t) => {
  const run = async (
    options: OffloadOptions,
    task: (offload: ReturnType<typeof createOffload>) => Promise<unknown>,
  ) => {
    const own = createOffload(options);
    const error = await task(own).catch((reason: unknown) => reason);
    await own.close();
    return error;
  };
  const parse = (own: ReturnType<typeof createOffload>) => own.parseJson(Buffer.from('[1]'));
  const read = (own: ReturnType<typeof createOffload>) => own.documentText(Buffer.from('text'), 'a');
  const timeouts = { json: 1, tokens: 1, document: 1 };
  const crash = { entry: new URL('./odd-worker.mjs', import.meta.url) };
  t.match(await run({ timeouts }, parse), {
    kind: 'unavailable',
    message: 'The request could not be read in time',
  });
  t.match(await run({ timeouts }, (own) => own.countTokens(['a'], 'x')), { kind: 'unavailable' });
  t.match(await run({ timeouts }, read), {
    kind: 'invalid_request',
    message: 'the document takes too long to read',
  });
  t.match(await run(crash, parse), { kind: 'internal', message: 'The request could not be read' });
  t.match(await run(crash, read), { kind: 'invalid_request', message: 'the document cannot be read' });
  const full = new WorkerFailure('memory');
  for (const [type, kind, message] of [
    ['json', 'payload_too_large', 'The request needs too much memory to be read: the limit is 512 MiB'],
    [
      'tokens',
      'payload_too_large',
      'The request needs too much memory for its tokens to be counted: the limit is 512 MiB',
    ],
    ['document', 'invalid_request', 'the document needs too much memory to read'],
  ] as const)
    t.match(endingOf(type, full, 512), { kind, message });
  const closing = createOffload();
  const running = parse(closing).catch((reason: unknown) => reason);
  await closing.close();
  t.match(await running, { kind: 'unavailable', message: 'The service is shutting down' });
});

t.test('unsubscribing aborts', async (t) => {
  let aborted: AbortSignal | undefined;
  const subscription = offloaded((signal) => {
    aborted = signal;
    return offload.parseJson(Buffer.from('1'), signal);
  }).subscribe({ next: () => t.fail('nobody listens'), error: () => t.fail('nobody listens') });
  subscription.unsubscribe();
  t.equal(aborted?.aborted, true);
  const seen: unknown[] = [];
  await new Promise<void>((resolve) => {
    offloaded((signal) => offload.parseJson(Buffer.from('[2]'), signal)).subscribe({
      next: (value) => seen.push(value),
      complete: resolve,
    });
  });
  t.same(seen, [[2]]);
});
