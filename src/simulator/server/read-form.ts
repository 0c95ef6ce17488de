/** The body of a form and its content type in; its fields and files out. */
import { Busboy } from '@fastify/busboy';
import { fail } from '../../errors.ts';

export interface Form {
  readonly fields: Readonly<Record<string, string>>;
  /** In the order they came in. */
  readonly files: readonly { readonly field: string; readonly bytes: Buffer }[];
}

const limits = { fields: 64, files: 32, fieldSize: 256 * 1024 };

export const readForm = (body: Buffer, contentType: string): Promise<Form> =>
  new Promise((resolve, reject) => {
    const refuse = (cause: unknown): void =>
      reject(fail('invalid_request', 'The body must be a form', { cause }));
    const fields: Record<string, string> = {};
    const files: { field: string; bytes: Buffer }[] = [];
    try {
      const parser = new Busboy({ headers: { 'content-type': contentType }, limits });
      parser.on('field', (name, value) => {
        fields[name] = value;
      });
      parser.on('file', (field, stream) => {
        const pieces: Buffer[] = [];
        stream.on('data', (piece: Buffer) => pieces.push(piece));
        stream.on('end', () => files.push({ field, bytes: Buffer.concat(pieces) }));
      });
      parser.on('error', refuse);
      parser.on('finish', () => resolve({ fields, files }));
      parser.end(body);
    } catch (cause) {
      refuse(cause);
    }
  });
