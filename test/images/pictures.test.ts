/** Tests transparency detection in every image layout. */
import sharp from 'sharp';
import t from 'tap';
import { createPictures } from '../../src/images/pictures.ts';

const pictures = createPictures();
const { signal } = new AbortController();

/** Opaque but for one pixel in the middle, where its alpha is given. */
const drawn = (width: number, channels: 2 | 3 | 4, alpha = 255) => {
  const pixels = Buffer.alloc(width * width * channels, 255);
  if (channels !== 3) pixels[(Math.floor(width / 2) * width + 5) * channels + channels - 1] = alpha;
  return sharp(pixels, { raw: { width, height: width, channels } });
};
/** 2050 squared is more than is compared at once. */
const sizes = [16, 2050] as const;

t.test('one pixel that is not fully opaque makes an image transparent', async (t) => {
  for (const width of sizes)
    for (const channels of [2, 4] as const) {
      const look = async (alpha: number): Promise<boolean> =>
        pictures.isTransparent(await drawn(width, channels, alpha).png().toBuffer(), signal);
      t.equal(await look(254), true, `${width} pixels wide, ${channels} channels`);
      t.equal(await look(255), false, `${width} pixels wide, ${channels} channels, opaque`);
    }
  t.equal(await pictures.isTransparent(await drawn(16, 3).png().toBuffer(), signal), false, 'no alpha');
  const webp = (alpha: number) => drawn(16, 4, alpha).webp({ lossless: true }).toBuffer();
  t.equal(await pictures.isTransparent(await webp(0), signal), true, 'WebP');
  const deep = (alpha: number) => drawn(16, 4, alpha).toColourspace('rgb16').png().toBuffer();
  t.equal(await pictures.isTransparent(await deep(254), signal), true, 'sixteen bits');
  t.equal(await pictures.isTransparent(await deep(255), signal), false, 'sixteen bits, opaque');
});

t.test('an image that cannot be decoded is an error', async (t) => {
  const whole = await drawn(16, 4).png().toBuffer();
  await t.rejects(pictures.isTransparent(whole.subarray(0, whole.length - 30), signal), /damaged/);
});
