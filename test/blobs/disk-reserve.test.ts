/** Tests the part of the disk that files of clients never take. */
import { mkdtempSync, rmSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import t from 'tap';
import { openFolderBlobs } from '../../src/adapters/blobs/folder.ts';
import { openDiskReserve } from '../../src/adapters/disk-reserve.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-reserve-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const mebibyte = 1024 * 1024;
const options = { mediaType: 'text/plain' };

t.test('a file that would use up the reserve is refused, and leaves nothing', async (t) => {
  const { bavail, bsize } = await statfs(folder);
  // Others write to this disk too: what is left free is far more than a test writes.
  const reserve = await openDiskReserve(folder, bavail * bsize - 1024 * mebibyte);
  const blobs = await openFolderBlobs({
    folder: join(folder, 'blobs'),
    reserve,
    log: pino({ level: 'silent' }),
    link: async () => '',
  });
  t.teardown(() => blobs.close());
  await blobs.put('small', Buffer.from('text'), options);
  t.match(await blobs.stat('small'), { size: 4 });
  // Not written: the reserve is asked first, and a sparse buffer of this size costs nothing.
  await t.rejects(reserve.ensure(4096 * mebibyte), {
    name: 'ApiError',
    kind: 'unavailable',
    message: 'The disk of the service is full; retry later',
  });
  t.equal(reserve.stats().refused, 1);
  const full = await openDiskReserve(folder, bavail * bsize * 2);
  const refusing = await openFolderBlobs({
    folder: join(folder, 'full'),
    reserve: full,
    log: pino({ level: 'silent' }),
    link: async () => '',
  });
  t.teardown(() => refusing.close());
  await t.rejects(refusing.put('any', Buffer.from('text'), options), {
    name: 'ApiError',
    kind: 'unavailable',
  });
  t.equal(await refusing.stat('any'), undefined);
});
