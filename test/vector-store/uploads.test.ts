/** Tests large uploads to a gateway process: flat memory, the size limit and a restart. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { eventually } from '../eventually.ts';
import { onlyLong } from '../long.ts';
import { key, startProcess, uploadLines } from './large-upload.ts';
import { callsOf } from './stores.ts';

const mebibyte = 1024 * 1024;
const folder = mkdtempSync(join(tmpdir(), 'sluice-uploads-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

const first = await startProcess(folder, ['--expose-gc']);
t.teardown(async () => {
  const { exitCode, signalCode } = first.child;
  if (exitCode === null && signalCode === null) await first.end('SIGTERM');
});

t.test('uploads are streamed with flat memory', { skip: onlyLong }, async (t) => {
  const { create, call } = callsOf(first.url, key);
  const store = await create();
  await uploadLines(first.url, store.id, mebibyte / 2);
  const { now: before } = await first.memory();
  const held: number[] = [];
  const { status, body } = await uploadLines(first.url, store.id, 32 * mebibyte, async () => {
    held.push((await first.memory()).now.buffers - before.buffers);
  });
  t.equal(status, 201);
  t.equal(body.status, 'in_progress');
  t.ok(held.length > 5);
  t.ok(Math.max(...held) < 12 * mebibyte, `${held} bytes of buffers`);
  t.match((await call('GET', `/vector_store/${store.id}`)).body, {
    status: 'in_progress',
    file_counts: { in_progress: 1, completed: 1 },
  });
  t.equal((await call('DELETE', `/vector_store/${store.id}`)).status, 200);
  t.equal((await call('GET', `/vector_store/${store.id}`)).status, 400);
});

t.test('over the limit: 413 without reading further', async (t) => {
  const { create } = callsOf(first.url, key);
  const store = await create();
  const { hostname, port, pathname } = new URL(first.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST ${pathname}/vector_store/${store.id}/files HTTP/1.1\r\nhost: test\r\nauthorization: Bearer ${key}\r\n` +
      `content-type: multipart/form-data; boundary=B\r\ncontent-length: ${300 * mebibyte}\r\n\r\n--B\r\n`,
  );
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  const [head = '', body = ''] = answer.toString().split('\r\n\r\n');
  t.match(head, /^HTTP\/1\.1 413 /);
  t.same(JSON.parse(body), {
    error: {
      code: 413,
      message: `Request body is larger than the limit of ${101 * mebibyte} bytes`,
      type: 'invalid_request_error',
      param: null,
      metadata: { error_type: 'payload_too_large' },
    },
  });
});

t.test(
  'a restart in the middle: the file is completed, and every batch billed once',
  { skip: onlyLong },
  async (t) => {
    const { create } = callsOf(first.url, key);
    const store = await create();
    const { body } = await uploadLines(first.url, store.id, 3 * mebibyte);
    t.equal(body.status, 'in_progress');
    await first.end('SIGTERM');
    const second = await startProcess(folder);
    t.teardown(() => second.end('SIGTERM'));
    const { settled, search, call } = callsOf(second.url, key);
    const file = await settled(store.id, body.id);
    t.equal(file.status, 'completed');
    t.ok(file.item_count > 1000, `${file.item_count} items`);
    t.match((await call('GET', `/vector_store/${store.id}`)).body, { item_count: file.item_count });
    t.equal((await search(store.id, 'harbour lantern')).length, 10);
    const used = await billed(call, body.id);
    t.equal(used.inputs, file.item_count, 'what is in the store was billed, and nothing else');
    t.equal(used.events, Math.ceil(file.item_count / 256));
  },
);

type Call = ReturnType<typeof callsOf>['call'];

interface UsagePage {
  readonly data: readonly { readonly id: string; readonly inputs: number }[];
  readonly links: { readonly next: string | null };
}

/** What the ledger has of a file's batches, once it has the last one. */
const billed = async (
  call: Call,
  file: string,
): Promise<{ readonly events: number; readonly inputs: number }> => {
  let last = { events: -1, inputs: -1 };
  return eventually(async () => {
    const rows = new Map<string, number>();
    for (let path: string | null = '/usage?group_by=request&limit=1000'; path !== null; ) {
      const { body }: { body: UsagePage } = await call<UsagePage>('GET', path);
      for (const { id, inputs } of body.data) if (id.startsWith(`usage_${file}_`)) rows.set(id, inputs);
      path = body.links.next?.replace(/^\/v1/, '') ?? null;
    }
    const found = { events: rows.size, inputs: [...rows.values()].reduce((sum, inputs) => sum + inputs, 0) };
    const same = found.events > 0 && found.inputs === last.inputs;
    last = found;
    await delay(200);
    return same && found;
  }, `all batches of ${file}`);
};
