/** Attacks by documents, recordings and pictures that take long, or much memory, to read. */
import sharp from 'sharp';
import { nestedDocx, packedPdf } from '../files/documents.ts';
import { silentFlac } from '../files/flac.ts';
import { inLoops } from '../requests.ts';
import type { Row, Target } from '../row.ts';

const sendDocument = (
  target: Target,
  clients: number,
  filename: string,
  mediaType: string,
  bytes: Buffer,
) => {
  const file = { filename, file_data: `data:${mediaType};base64,${bytes.toString('base64')}` };
  const messages = [{ role: 'user', content: [{ type: 'file', file }] }];
  const body = JSON.stringify({ model: 'sluice/vision', messages });
  return inLoops(target, clients, () => ({ path: '/chat/completions', body }));
};

const nested: Row = {
  name: 'nested-docx',
  title: 'a DOCX of 5.6 KB with 720,000 tags, one inside the other; 6 clients in a loop',
  victim: 'document',
  maxRss: 768,
  attack: (target) =>
    sendDocument(
      target,
      6,
      'nested.docx',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      nestedDocx(720_000),
    ),
};

const packed: Row = {
  name: 'packed-pdf',
  title: 'a PDF of 2 KB that unpacks to 600 MiB; 2 clients in a loop',
  victim: 'document',
  maxRss: 768,
  attack: (target) => sendDocument(target, 2, 'packed.pdf', 'application/pdf', packedPdf(600)),
};

const recordings: Row = {
  name: 'long-flac',
  title: 'FLACs of 5 MB with 3.9 hours of silence; 8 clients in a loop',
  victim: 'transcription',
  maxRss: 768,
  attack: (target) => {
    const data = silentFlac({ seconds: 3.9 * 3600, sampleRate: 96_000 }).toString('base64');
    const body = JSON.stringify({ model: 'sluice/transcribe', input_audio: { data, format: 'flac' } });
    return inLoops(target, 8, () => ({ path: '/audio/transcriptions', body }));
  },
};

const side = 8192;

/** Interlaced, so that no part of it is complete before all of it is. */
const pictures: Row = {
  name: 'huge-pictures',
  title: `10 interlaced PNGs of 67 megapixels in a request; 6 clients in a loop`,
  victim: 'picture',
  // Until the one request that is admitted has been answered.
  seconds: 20,
  maxRss: 1024,
  attack: async (target) => {
    const background = { r: 20, g: 90, b: 160, alpha: 0.5 };
    const png = await sharp({ create: { width: side, height: side, channels: 4, background } })
      .png({ progressive: true })
      .toBuffer();
    const image_url = `data:image/png;base64,${png.toString('base64')}`;
    const images = Array.from({ length: 10 }, () => ({ image_url }));
    const body = JSON.stringify({ model: 'sluice/image-edit', prompt: 'A lock', size: '256x256', images });
    return inLoops(target, 6, () => ({ path: '/images/edits', body }));
  },
};

export const mediaRows: readonly Row[] = [nested, packed, recordings, pictures];
