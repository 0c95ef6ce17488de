/** A gateway that records usage events and engine calls, and images for tests. */
import sharp from 'sharp';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import type { Engine } from '../../src/ports/engines/engine.ts';
import type { ImageCall } from '../../src/ports/engines/image.ts';
import { envelope } from '../envelope.ts';
import { type GatewayOptions, startGateway, type TestGateway } from '../gateway.ts';

export interface Said {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

export interface ImageGateway {
  readonly gateway: TestGateway;
  readonly events: readonly UsageEvent[];
  /** What engines were asked for. */
  readonly calls: readonly ImageCall[];
  /** Answers instead of the engine, until it is undefined again. */
  play(image: Engine['image']): void;
  /** An object goes as JSON, text as it is, a form as a form. */
  post(path: string, body: unknown, signal?: AbortSignal): Promise<Said>;
  get(path: string): Promise<Said>;
}

export const startImages = async (options: GatewayOptions = {}): Promise<ImageGateway> => {
  const gateway = await startGateway(options);
  const { usage, engines } = gateway.ports;
  const events: UsageEvent[] = [];
  const record = usage.record.bind(usage);
  usage.record = (event) => {
    events.push(event);
    return record(event);
  };
  const calls: ImageCall[] = [];
  let played: Engine['image'];
  const real = engines.of.bind(engines);
  engines.of = (model) => {
    const engine = real(model);
    const image = played ?? engine.image?.bind(engine);
    return image === undefined
      ? engine
      : {
          ...engine,
          image: (asked, call, flow) => {
            calls.push(call);
            return image(asked, call, flow);
          },
        };
  };
  const headers = { authorization: `Bearer ${gateway.key}` };
  const said = async (response: Response): Promise<Said> => ({
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    text: await response.text(),
  });
  return {
    gateway,
    events,
    calls,
    play: (image) => {
      played = image;
    },
    post: async (path, body, signal) =>
      said(
        await fetch(`${gateway.url}${path}`, {
          method: 'POST',
          headers: body instanceof FormData ? headers : { ...headers, 'content-type': 'application/json' },
          body: body instanceof FormData || typeof body === 'string' ? body : JSON.stringify(body),
          ...(signal === undefined ? {} : { signal }),
        }),
      ),
    get: async (path) => said(await fetch(`${gateway.url}${path}`, { headers })),
  };
};

export const refused = (message: string) => envelope(400, message, 'validation_error', 'invalid_request');
export const tooLarge = (message: string) =>
  envelope(413, message, 'invalid_request_error', 'payload_too_large');

/** Texts become fields, buffers files; a list of buffers the same part several times. */
export const formOf = (fields: Record<string, string | Buffer | readonly Buffer[]>): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.append(name, value);
    else
      for (const bytes of Buffer.isBuffer(value) ? [value] : value)
        form.append(name, new Blob([new Uint8Array(bytes)]), 'picture');
  }
  return form;
};

export const dataUri = (bytes: Buffer, type = 'image/png'): string =>
  `data:${type};base64,${bytes.toString('base64')}`;

/** Of one colour. */
export const plain = (
  format: 'png' | 'jpeg' | 'webp' | 'gif',
  { width = 64, height = 48, alpha = 1 } = {},
): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 4, background: { r: 200, g: 60, b: 20, alpha } } })
    .toFormat(format)
    .toBuffer();

/** A picture that no format makes smaller: its bytes are about three times its pixels. */
export const noise = (side: number): Promise<Buffer> => {
  const pixels = Buffer.alloc(side * side * 3);
  let state = 1;
  for (let at = 0; at < pixels.length; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    pixels[at] = state >>> 16;
  }
  return sharp(pixels, { raw: { width: side, height: side, channels: 3 } })
    .png({ compressionLevel: 0 })
    .toBuffer();
};

/** A small PNG that says it is of another size: what a decompression bomb begins with. */
export const claiming = (png: Buffer, width: number, height: number): Buffer => {
  const bytes = Buffer.from(png);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29);
  return bytes;
};

const crc32 = (bytes: Buffer): number => {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
};
