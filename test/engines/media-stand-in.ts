/** A stand-in media engine whose files a test chooses, with media made by ffmpeg. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lastValueFrom, toArray } from 'rxjs';
import type { Test } from 'tap';
import { createCodec } from '../../src/codec/codec.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';

export interface SentFile {
  readonly bytes: Buffer;
  readonly type?: string;
  /** Bytes that are announced, where there are fewer. */
  readonly length?: number;
  /** Sent in pieces of so many bytes, of no announced length. */
  readonly pieces?: number;
}

/** Answers every job with a finished one, and what it is asked for with the file that is set. */
export class MediaEngine {
  file: SentFile = { bytes: Buffer.alloc(0) };
  /** Fields of a finished job. */
  record: object = {};
  /** Bodies of requests. */
  readonly asked: string[] = [];
  url = '';

  async start(t: Test): Promise<this> {
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const piece of request) body += piece;
      if (request.method === 'POST') this.asked.push(body);
      if (/\/(?:content|speech)$/.test(request.url?.split('?')[0] ?? '')) return this.#send(response);
      if (request.url?.includes('/images/')) {
        const data = [{ b64_json: this.file.bytes.toString('base64') }];
        return json(response, { created: 1, data });
      }
      return json(response, { id: 'job', status: 'completed', progress: 100, ...this.record });
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    t.teardown(() => {
      server.close();
      server.closeAllConnections();
    });
    return this;
  }

  #send(response: ServerResponse): void {
    const { bytes, type = 'application/octet-stream', length = bytes.length, pieces } = this.file;
    if (pieces !== undefined) {
      response.writeHead(200, { 'content-type': type });
      void sendPieces(response, bytes, pieces);
      return;
    }
    response.writeHead(200, { 'content-type': type, 'content-length': length });
    if (length === bytes.length) response.end(bytes);
    else response.write(bytes, () => response.destroy());
  }
}

const sendPieces = async (response: ServerResponse, bytes: Buffer, size: number): Promise<void> => {
  for (let at = 0; at < bytes.length; at += size) {
    response.write(bytes.subarray(at, at + size));
    // So that pieces are read one by one, at the beginning at least.
    if (at < 20 * size) await new Promise((later) => setTimeout(later, 2));
  }
  response.end();
};

const json = (response: ServerResponse, body: object): void => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

export const codec = createCodec();

/** What ffmpeg makes of its own test pictures and tones. */
export const made = async (
  inputs: readonly string[],
  words: readonly string[],
  { seekableOutput = true } = {},
): Promise<Buffer> => {
  const conversion = {
    inputArguments: inputs.flatMap((input) => ['-f', 'lavfi', '-i', input]),
    arguments: words,
    seekableOutput,
    maxBytes: 64 * 1024 * 1024,
    timeoutMs: 60_000,
  };
  return Buffer.concat(
    await lastValueFrom(codec.convert(undefined, conversion, new Backpressure()).pipe(toArray())),
  );
};

const pictures = 'testsrc=s=160x90:r=12:d=3';
const tone = 'sine=f=440:d=3';
export const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];
export const aac = ['-c:a', 'aac', '-ac', '2'];

/** Three seconds of 160x90 at 12 a second, with a tone unless `words` leave it out. */
export const film = (words: readonly string[], sound = true): Promise<Buffer> =>
  made(sound ? [pictures, tone] : [pictures], words);

export const song = (words: readonly string[], seekableOutput = true): Promise<Buffer> =>
  made([tone], words, { seekableOutput });

export const html = Buffer.from(
  '<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>\n',
);

/** The first part of a file, in hundredths. */
export const cut = (bytes: Buffer, percent: number): Buffer =>
  bytes.subarray(0, Math.floor((bytes.length * percent) / 100));

/** Zeros where the second half was, but for the end: a download that left a hole. */
export const holed = (bytes: Buffer): Buffer => {
  const copy = Buffer.from(bytes);
  return copy.fill(0, copy.length >> 1, copy.length - 1500);
};
