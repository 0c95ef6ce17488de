/** Reads video and music requests, as JSON or a form. */
import type { IncomingMessage } from 'node:http';
import { fail } from '../../errors.ts';
import { isObject } from '../../helpers/json-schema.ts';
import type { MusicCall, RenderCall, VideoCall } from '../../ports/engines/render.ts';
import type { JsonObject } from './fields.ts';
import { readBytes, readForm, readJson } from './read-body.ts';

interface RenderRequest {
  readonly model: string;
  readonly call: RenderCall;
  readonly firstFrame: Buffer | undefined;
  readonly body: unknown;
}

export async function readRender(request: IncomingMessage, type: RenderCall['type']): Promise<RenderRequest> {
  const bytes = await readBytes(request);
  const contentType = request.headers['content-type'] ?? '';
  const form = contentType.startsWith('multipart/') ? await readForm(bytes, contentType) : undefined;
  const body = form?.fields ?? readJson(bytes);
  if (!isObject(body) || typeof body.model !== 'string' || typeof body.prompt !== 'string')
    throw fail('invalid_request', 'model and prompt must be strings');
  const firstFrame =
    form?.files.find(({ field }) => field === 'input_reference')?.bytes ?? dataOf(body.input_reference);
  const call = type === 'video' ? videoCall(body, body.prompt, firstFrame) : musicCall(body, body.prompt);
  return { model: body.model, call, firstFrame, body };
}

const videoCall = (body: JsonObject, prompt: string, firstFrame: Buffer | undefined): VideoCall => {
  const size = typeof body.size === 'string' ? body.size : '1344x768';
  const [, width, height] = /^(\d{2,4})x(\d{2,4})$/.exec(size) ?? [];
  if (width === undefined || height === undefined || Number(width) % 2 === 1 || Number(height) % 2 === 1)
    throw fail('invalid_request', 'size must be a width and a height, both even, such as 1344x768');
  return {
    type: 'video',
    prompt,
    seconds: secondsOf(body, 4),
    width: Number(width),
    height: Number(height),
    upscaled: Number(width) * Number(height) > 2_000_000,
    steps: 4,
    quality: undefined,
    audio: String(body.generate_audio ?? true) === 'true',
    seed: Number(body.seed ?? 0),
    startTimeSeconds: undefined,
    inputs:
      firstFrame === undefined
        ? []
        : [{ kind: 'image', use: 'first_frame', blob: '', mediaType: 'application/octet-stream' }],
  };
};

const formats: readonly MusicCall['format'][] = ['mp3', 'wav', 'flac', 'opus'];

const musicCall = (body: JsonObject, prompt: string): MusicCall => ({
  type: 'music',
  prompt,
  lyrics: typeof body.lyrics === 'string' ? body.lyrics : undefined,
  seconds: secondsOf(body, 10),
  n: Math.min(8, Math.max(1, Number(body.n ?? 1) || 1)),
  format: formats.find((format) => format === body.response_format) ?? 'mp3',
  seed: Number(body.seed ?? 0),
});

const secondsOf = (body: JsonObject, usual: number): number => {
  const seconds = Number(body.duration ?? body.seconds ?? usual);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 300)
    throw fail('invalid_request', 'seconds must be a whole number from 1 to 300');
  return seconds;
};

/** Data URIs only: an engine for tests fetches nothing. */
const dataOf = (reference: unknown): Buffer | undefined => {
  const url = isObject(reference) ? reference.image_url : reference;
  if (url === undefined || url === null) return undefined;
  const base64 = typeof url === 'string' ? /^data:[^,]*;base64,(.*)$/s.exec(url)?.[1] : undefined;
  if (base64 === undefined) throw fail('invalid_request', 'input_reference must be a data URI');
  return Buffer.from(base64, 'base64');
};
