/** Tests the Blobs port on a folder. */
import { chmodSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import t from 'tap';
import { openFolderBlobs } from '../../src/adapters/blobs/folder.ts';
import { folderLayout } from '../../src/adapters/blobs/folder-layout.ts';
import { sweepFolder } from '../../src/adapters/blobs/folder-sweep.ts';
import { fail } from '../../src/errors.ts';
import { blobsContract } from '../contracts/blobs.ts';

const log = pino({ level: 'silent' });
const link = async (name: string, expires: number) => `http://here/v1/blobs/${name}?expires=${expires}`;
const png = { mediaType: 'image/png' };

t.test('contract', async (t) => {
  const folder = join(t.testdir(), 'blobs');
  await blobsContract(t, () => openFolderBlobs({ folder, log, link }));
  t.strictSame(readdirSync(join(folder, 'writing')), [], 'no temporary file is left');
});

t.test('the sweep removes only expired blobs', async (t) => {
  const folder = join(t.testdir(), 'blobs');
  const layout = folderLayout(folder);
  const blobs = await openFolderBlobs({ folder, log, link });
  const now = Date.now();
  const hour = 3_600_000;
  await blobs.put('images/soon.png', Buffer.from('1'), { ...png, expiresAt: now + hour });
  await blobs.put('images/late.png', Buffer.from('2'), { ...png, expiresAt: now + 5 * hour });
  await blobs.put('images/kept.png', Buffer.from('3'), png);
  await blobs.put('images/renewed.png', Buffer.from('4'), { ...png, expiresAt: now + hour });
  await blobs.put('images/renewed.png', Buffer.from('5'), { ...png, expiresAt: now + 5 * hour });
  await blobs.put('images/gone.png', Buffer.from('6'), { ...png, expiresAt: now + hour });
  await blobs.remove('images/gone.png');
  await blobs.close();

  const files = () => readdirSync(join(folder, 'files', 'images')).sort();
  t.equal(await sweepFolder(layout, now + hour - 1), 0, 'too early');
  const sweeps = await Promise.all([1, 2, 3].map(() => sweepFolder(layout, now + 2 * hour)));
  t.ok(
    sweeps.some((removed) => removed === 1),
    'several may sweep at once',
  );
  t.strictSame(files(), ['kept.png', 'late.png', 'renewed.png']);
  await sweepFolder(layout, now + 6 * hour);
  t.strictSame(files(), ['kept.png']);
  t.strictSame(readdirSync(layout.expiring), []);
});

t.test('files of interrupted writes are removed after a day', async (t) => {
  const folder = join(t.testdir(), 'blobs');
  const layout = folderLayout(folder);
  await (await openFolderBlobs({ folder, log, link })).close();
  writeFileSync(join(layout.writing, 'old'), 'half of it');
  writeFileSync(join(layout.writing, 'new'), 'half of it');
  const twoDaysAgo = new Date(Date.now() - 48 * 3_600_000);
  utimesSync(join(layout.writing, 'old'), twoDaysAgo, twoDaysAgo);
  await sweepFolder(layout, Date.now());
  t.strictSame(readdirSync(layout.writing), ['new']);
});

t.test('a truncated file counts as missing', async (t) => {
  const folder = join(t.testdir(), 'blobs');
  const blobs = await openFolderBlobs({ folder, log, link });
  t.teardown(() => blobs.close());
  await blobs.put('a', Buffer.from('whole'), png);
  const path = join(folder, 'files', 'a');
  const bytes = readFileSync(path);
  t.equal(bytes.toString('utf8', 0, 5), 'whole', 'the bytes come first: viewers open the file');
  for (const length of [0, 3, 5, bytes.length - 9, bytes.length - 1]) {
    chmodSync(path, 0o600);
    writeFileSync(path, bytes.subarray(0, length));
    t.equal(await blobs.stat('a'), undefined, `${length} bytes`);
  }
});

t.test('a missing folder gives 503', async (t) => {
  const folder = join(t.testdir(), 'blobs');
  const blobs = await openFolderBlobs({ folder, log, link });
  t.teardown(() => blobs.close());
  rmSync(folder, { recursive: true });
  await t.rejects(
    blobs.put('a', Buffer.from('x'), png),
    fail('unavailable', 'The store of files cannot answer now'),
  );
  await t.rejects(blobs.check(), { message: /^The folder of files, .* cannot be written to$/ });
});
