import { inflateRawSync, inflateSync } from 'node:zlib';
import { test } from 'tap';
import { createCodec } from '../../src/codec/codec.ts';
import { nestedDocx, packedPdf } from './files/documents.ts';
import { silentFlac } from './files/flac.ts';

test('the FLAC is one, of the length that it says', async (t) => {
  const codec = createCodec();
  t.teardown(() => codec.close());
  const { container, seconds, sampleRate, channels } = await codec.probe(
    silentFlac({ seconds: 600, sampleRate: 96_000 }),
  );
  t.same({ container, sampleRate, channels }, { container: 'flac', sampleRate: 96_000, channels: 2 });
  t.ok(Math.abs(seconds - 600) < 0.1, `${seconds} s`);
});

test('documents are as small as the table says', (t) => {
  t.ok(nestedDocx(720_000).length < 5_800);
  t.ok(packedPdf(600).length < 2_100);
  t.end();
});

test('the content of the PDF is packed twice', (t) => {
  const pdf = packedPdf(3);
  const start = pdf.indexOf('stream\n') + 'stream\n'.length;
  const once = inflateSync(pdf.subarray(start, pdf.indexOf('\nendstream')));
  // Its checksum is wrong, which readers of PDFs do not mind.
  const twice = inflateRawSync(once.subarray(2, -4));
  t.equal(twice.length, 3 * 1024 * 1024);
  t.end();
});
