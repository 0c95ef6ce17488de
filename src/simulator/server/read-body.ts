/** Reads request bodies, bounded in size: bytes, JSON or forms. */
import type { IncomingMessage } from 'node:http';
import { Busboy } from '@fastify/busboy';
import { fail } from '../../errors.ts';

const bodyLimit = 64 * 1024 * 1024;

export async function readBody(request: IncomingMessage): Promise<unknown> {
  return readJson(await readBytes(request));
}

export async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // The socket must survive a refusal: it carries the response.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bodyLimit) throw fail('payload_too_large', `The body must be at most ${bodyLimit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

export function readJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch (cause) {
    throw fail('invalid_request', 'The body must be JSON', { cause });
  }
}

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
