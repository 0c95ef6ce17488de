/** A request in; its body out, as bytes or as the JSON they are, bounded in size. */
import type { IncomingMessage } from 'node:http';
import { fail } from '../../errors.ts';

const bodyLimit = 64 * 1024 * 1024;

export async function readBody(request: IncomingMessage): Promise<unknown> {
  return readJson(await readBytes(request));
}

export async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // The request outlives a refusal: the answer to it goes over the same socket.
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
