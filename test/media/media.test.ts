/** Tests parsing of base64 and data URIs, and media type detection. */
import fc from 'fast-check';
import { firstValueFrom } from 'rxjs';
import t from 'tap';
import { ApiError } from '../../src/errors.ts';
import { Base64Writer, decode, decodedSize, isBase64 } from '../../src/media/base64.ts';
import { createMedia } from '../../src/media/media.ts';
import { mediaTypeOf } from '../../src/media/media-type.ts';
import type { Base64, MediaRule } from '../../src/ports/media.ts';

const media = createMedia({ allowPrivate: false });
const rule: MediaRule = { field: 'image_url.url', maxBytes: 1000 };
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
const asBytes = (text: string): Uint8Array => new Uint8Array(latin1(text));
const png = latin1('\x89PNG\r\n\x1a\n\0\0\0\rIHDR');

const read = async (url: Base64): Promise<string> => {
  try {
    const { mediaType, size, base64, bytes } = await firstValueFrom(media.read(url, rule));
    const text = typeof base64 === 'string' ? base64 : Buffer.from(base64).toString('latin1');
    return `${mediaType} ${size} ${bytes.equals(Buffer.from(text, 'base64'))}`;
  } catch (reason) {
    return reason instanceof ApiError ? `${reason.status} ${reason.message}` : String(reason);
  }
};

t.test('data URIs', async (t) => {
  const cases: readonly [string, string][] = [
    [`data:image/png;base64,${png.toString('base64')}`, 'image/png 16 true'],
    [`DATA:Image/JPEG;charset=x;BASE64,${png.toString('base64')}`, 'image/png 16 true'],
    ['data:text/csv;base64,YSxi', 'text/csv 3 true'],
    ['data:text/csv;charset=utf-8;base64,YQ==', 'text/csv 1 true'],
    ['data:;base64,YWI=', 'application/octet-stream 2 true'],
    ['data:nonsense;base64,YWI=', 'application/octet-stream 2 true'],
    ['data:image/png;base64,', '400 image_url.url is empty'],
    ['data:image/png;base64', '400 image_url.url must be a base64 data URI'],
    ['data:text/plain,hello', '400 image_url.url must be a base64 data URI'],
    ['data:', '400 image_url.url must be a base64 data URI'],
    [`data:${'x'.repeat(600)};base64,YWI=`, '400 image_url.url must be a base64 data URI'],
    ['data:text/csv;base64,YW', 'text/csv 1 true'],
    ['data:text/csv;base64,YS\r\nxi\nYW\n', 'text/csv 4 true'],
    ['data:image/png;base64,Y', '400 image_url.url is not valid base64'],
    ['data:image/png;base64,YW=', '400 image_url.url is not valid base64'],
    ['data:image/png;base64,YW J', '400 image_url.url is not valid base64'],
    ['data:image/png;base64,YQ==YQ==', '400 image_url.url is not valid base64'],
    ['data:image/png;base64,ab-_', '400 image_url.url is not valid base64'],
    ['data:image/png;base64,Y===', '400 image_url.url is not valid base64'],
    ['data:image/png;base64,====', '400 image_url.url is not valid base64'],
    ['data:image/png;base64,YWJ☕', '400 image_url.url is not valid base64'],
    [`data:image/png;base64,${'A'.repeat(1340)}`, '413 image_url.url is larger than the limit of 1000 bytes'],
  ];
  for (const [url, expected] of cases) t.equal(await read(url), expected, url.slice(0, 60));
  t.equal(await read(asBytes('data:text/csv;base64,YSxi')), 'text/csv 3 true');
  t.equal(await read(asBytes('YSxi')), '400 image_url.url must be an https URL or a data URI');
});

t.test('plain base64', async (t) => {
  const data = media.decode(png.toString('base64'), rule);
  t.match(data, { mediaType: 'image/png', size: 16, base64: png.toString('base64') });
  t.equal(data.bytes, data.bytes, 'decoded once');
  t.same(media.decode(asBytes(png.toString('base64')), rule).bytes, png);
  t.throws(() => media.decode('data:;base64,YWI=', rule), { message: 'image_url.url is not valid base64' });
  t.throws(() => media.decode('A'.repeat(1340), rule), { name: 'ApiError', kind: 'payload_too_large' });
});

t.test('valid base64 agrees with another implementation', async () => {
  const pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
  const unit = fc.constantFrom(...'ABCab019+/==-_ \n\0éĀ☕');
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 16 }), (text) => {
      const valid = pattern.test(text);
      const right = isBase64(text) === valid && (!valid || decode(text).length === decodedSize(text));
      return right && isBase64(Buffer.from(text)) === valid;
    }),
    { numRuns: 3000 },
  );
});

t.test('base64 written in chunks', async () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 40_000, size: 'max' }), { maxLength: 6 });
  fc.assert(
    fc.property(pieces, fc.boolean(), (chunks, announced) => {
      const whole = Buffer.concat(chunks);
      const writer = new Base64Writer(whole.length + 10, announced ? whole.length : undefined);
      for (const chunk of chunks) writer.write(Buffer.from(chunk));
      const base64 = writer.end();
      const text = typeof base64 === 'string' ? base64 : Buffer.from(base64).toString('latin1');
      return text === whole.toString('base64');
    }),
    { numRuns: 50 },
  );
});

t.test('media types', async (t) => {
  const box = (brand: string) => `\0\0\0\x20ftyp${brand}\0\0\0\0`;
  const heads: readonly [string, string][] = [
    ['\x89PNG\r\n\x1a\n', 'image/png'],
    ['\xff\xd8\xff\xe0', 'image/jpeg'],
    ['GIF87a', 'image/gif'],
    ['GIF89a', 'image/gif'],
    ['RIFF\x10\0\0\0WEBPVP8 ', 'image/webp'],
    [box('heic'), 'image/heic'],
    [box('hevx'), 'image/heic'],
    [box('mif1'), 'image/heif'],
    [box('avif'), 'image/avif'],
    [box('isom'), 'video/mp4'],
    [box('mp42'), 'video/mp4'],
    [box('M4V '), 'video/mp4'],
    [box('qt  '), 'video/quicktime'],
    ['\0\0\0\x08wide\0\0', 'video/quicktime'],
    ['\0\0\0\x08moov\0\0', 'video/quicktime'],
    [box('M4A '), 'audio/mp4'],
    ['\x1a\x45\xdf\xa3\x9fB\x86\x81\x01B\x82\x84webm', 'video/webm'],
    ['\x1a\x45\xdf\xa3\x9fB\x82\x88matroska', 'video/x-matroska'],
    ['RIFF\x10\0\0\0WAVEfmt ', 'audio/wav'],
    ['fLaC\0', 'audio/flac'],
    ['OggS\0', 'audio/ogg'],
    ['ID3\x04', 'audio/mpeg'],
    ['\xff\xfb\x90\x00', 'audio/mpeg'],
    ['\xff\xf3\x90\x00', 'audio/mpeg'],
    ['\xff\xf1\x50\x80', 'audio/aac'],
    ['\xff\xf9\x50\x80', 'audio/aac'],
    ['ADIF', 'audio/aac'],
    ['%PDF-1.7', 'application/pdf'],
    ['PK\x03\x04', 'application/zip'],
    ['plain text', 'application/octet-stream'],
    ['Get free stuff', 'application/octet-stream'],
    ['ID3 tags explained', 'application/octet-stream'],
    ['RIFF\x10\0\0\0AVI ', 'application/octet-stream'],
    ['\xff', 'application/octet-stream'],
    ['', 'application/octet-stream'],
  ];
  for (const [head, type] of heads) t.equal(mediaTypeOf(latin1(head), undefined), type);
  t.equal(mediaTypeOf(latin1('\xff\xd8\xff\xe0'), 'image/png'), 'image/jpeg', 'the bytes win');
  t.equal(mediaTypeOf(latin1('\x1a\x45\xdf\xa3\x9fB\x82\x84webm'), 'audio/webm'), 'audio/webm');
  t.equal(mediaTypeOf(latin1(box('isom')), 'audio/mp4'), 'audio/mp4');
  t.equal(mediaTypeOf(latin1('abc'), 'text/csv'), 'text/csv');
});
