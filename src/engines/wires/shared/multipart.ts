/** Builds multipart form bodies without copying their files. */
import { randomUUID } from 'node:crypto';
import type { BodyPiece } from '../../http1/outgoing-body.ts';

export interface FormFile {
  readonly field: string;
  readonly fileName: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** Field and file names are constants: part heads hold nothing of a client's. */
export const formBody = (
  fields: Readonly<Record<string, string>>,
  files: readonly FormFile[],
): { readonly body: readonly BodyPiece[]; readonly contentType: string } => {
  // Unpredictable, so no field or file can contain it.
  const boundary = `----sluice-${randomUUID()}`;
  const head = (disposition: string): string =>
    `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n`;
  let text = '';
  for (const [name, value] of Object.entries(fields)) text += `${head(`name="${name}"`)}\r\n${value}\r\n`;
  const body: BodyPiece[] = [];
  for (const { field, fileName, mediaType, bytes } of files) {
    text += `${head(`name="${field}"; filename="${fileName}"`)}content-type: ${mediaType}\r\n\r\n`;
    body.push(text, bytes);
    text = '\r\n';
  }
  body.push(`${text}--${boundary}--\r\n`);
  return { body, contentType: `multipart/form-data; boundary=${boundary}` };
};
