/** Small documents that take far more time or memory than their size suggests. */
import { constants, deflateRawSync, deflateSync } from 'node:zlib';
import { docx, pdf } from '../../offload/sample-documents.ts';

const mebibyte = 1024 * 1024;

/** A few kilobytes: tags that are opened one inside the other and never closed. */
export const nestedDocx = (tags: number): Buffer => docx('<w:p>'.repeat(tags));

/** Two kilobytes: a page whose content is packed twice, and so a million times smaller than it is. */
export const packedPdf = (megabytes: number): Buffer => {
  // A flushed block of deflate does not depend on what is before it, so one can be repeated without packing it again.
  const block = deflateRawSync(Buffer.alloc(mebibyte, ' '), {
    finishFlush: constants.Z_FULL_FLUSH,
    level: 9,
  });
  const header = Buffer.from([0x78, 0xda]);
  const lastBlock = Buffer.from([0x03, 0x00]);
  const checksum = Buffer.alloc(4);
  const inner = Buffer.concat([
    header,
    ...Array.from({ length: megabytes }, () => block),
    lastBlock,
    checksum,
  ]);
  return pdf([deflateSync(inner, { level: 9 })], '', '/Filter [/FlateDecode /FlateDecode]');
};
