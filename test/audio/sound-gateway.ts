/** A gateway that records usage events, with helpers to send and receive audio. */
import { startPosting } from '../embeddings/posting.ts';
import type { GatewayOptions } from '../gateway.ts';

export interface SseEvent {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export const startSounding = async (options: GatewayOptions = {}) => {
  const { gateway, events } = await startPosting<Record<string, unknown>>(options);
  const authorization = `Bearer ${gateway.key}`;

  const post = (path: string, body: unknown, signal?: AbortSignal): Promise<Response> =>
    fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });

  return {
    gateway,
    events,
    post,
    /** Speech; the model need not be said. */
    speak: (body: object, signal?: AbortSignal) =>
      post('/audio/speech', { model: 'sluice/speech', ...body }, signal),
    /** A recording as JSON. */
    transcribe: (bytes: Buffer, format: string, more: object = {}) =>
      post('/audio/transcriptions', {
        model: 'sluice/transcribe',
        input_audio: { data: bytes.toString('base64'), format },
        ...more,
      }),
    /** A form; its values are texts, or files with their names. */
    postForm: (fields: readonly (readonly [string, string | File])[], signal?: AbortSignal) => {
      const form = new FormData();
      for (const [name, value] of fields) form.append(name, value);
      return fetch(`${gateway.url}/audio/transcriptions`, {
        method: 'POST',
        headers: { authorization },
        body: form,
        ...(signal === undefined ? {} : { signal }),
      });
    },
    get: (path: string) => fetch(`${gateway.url}${path}`, { headers: { authorization } }),
  };
};

export const bytesOf = async (response: Response): Promise<Buffer> =>
  Buffer.from(await response.arrayBuffer());

export const eventsOf = async (response: Response): Promise<readonly SseEvent[]> =>
  (await response.text())
    .split('\n\n')
    .filter((block) => block.startsWith('event: '))
    .map((block) => {
      const [name = '', data = ''] = block.split('\n');
      return { event: name.slice('event: '.length), data: JSON.parse(data.slice('data: '.length)) };
    });

/** A file of a form. */
export const fileOf = (bytes: Uint8Array, name = 'recording.wav'): File =>
  new File([new Uint8Array(bytes)], name);
