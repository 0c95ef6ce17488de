/** Tests that HEIC pictures are read to their last tile, and everything else is refused. */
import fc from 'fast-check';
import t from 'tap';
import { createCodec } from '../../src/codec/codec.ts';
import { readHeif } from '../../src/images/heif.ts';
import { createPictures } from '../../src/images/pictures.ts';
import { heic } from './heic.ts';

const codec = createCodec();
t.teardown(() => codec.close());
const pictures = createPictures({ codec });
const { signal } = new AbortController();
const verify = (bytes: Buffer, maxPixels = 1_000_000) => pictures.verify(bytes, maxPixels, signal);

const single = await heic();
const tiled = await heic({ tiles: 3 });

t.test('one picture, and tiles', async (t) => {
  t.same(await verify(single), { width: 64, height: 64 });
  t.same(await verify(await heic({ brand: 'mif1' })), { width: 64, height: 64 });
  t.same(await verify(tiled), { width: 192, height: 64 });
  t.match(readHeif(tiled), { tiles: 3 });
});

t.test('more pixels than are allowed', async (t) => {
  await t.rejects(verify(await heic({ size: { width: 9000, height: 9000 } }), 2 ** 26), {
    kind: 'invalid_request',
    message: 'has more than 67108864 pixels',
  });
});

t.test('cut and damaged files', async (t) => {
  const damaged = { kind: 'invalid_request', message: 'cannot be read: the picture is damaged' };
  for (const file of [single, tiled])
    for (const length of [12, 24, 100, file.length >> 1, file.length - 20])
      await t.rejects(verify(file.subarray(0, length)), damaged, `${length} of ${file.length} bytes`);
  const holed = Buffer.from(single);
  holed.fill(0x55, single.indexOf('mdat') + 8);
  await t.rejects(verify(holed), damaged, 'bytes that are no picture');
  await t.rejects(
    verify(Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1')),
    damaged,
    'a head alone',
  );
});

t.test('any change of any byte is read or refused, and never anything else', async (t) => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.nat(tiled.length - 1), fc.nat(255), fc.nat(tiled.length), (at, value, length) => {
        const changed = Buffer.from(tiled.subarray(0, Math.max(16, length)));
        if (at < changed.length) changed[at] = value;
        try {
          const found = readHeif(changed);
          return found === undefined || found.tiles > 0;
        } catch (error) {
          return error instanceof RangeError;
        }
      }),
      { numRuns: 2000 },
    ),
  );
});
