/** Creates what the routes need: a store with a document, a video, a song, an image link and a recording. */
import type { Target } from '../load/request.ts';
import { eventually } from '../processes.ts';
import { form, json, picture, type Sent, song, video } from './bodies.ts';

export interface Prepared {
  readonly store: string;
  /** Another one, for items added during the measurement. */
  readonly uploads: string;
  readonly file: string;
  readonly item: string;
  readonly video: string;
  readonly song: string;
  /** Path and query of a link to a stored image, below `/v1`. */
  readonly link: string;
  /** A WAV file as latin1, spoken by the gateway itself. */
  readonly recording: string;
}

const withinSeconds = 30;
const sections = ['Locks', 'Gates', 'Paddles', 'Pounds', 'Weirs', 'Boats', 'Keepers', 'Winters'];
/** Eight headings, so eight items. */
const handbook = sections
  .map(
    (name) => `# ${name}\n\n${`What the handbook says of ${name.toLowerCase()} and the water. `.repeat(12)}`,
  )
  .join('\n\n');

export const prepare = async ({ port, headers }: Target): Promise<Prepared> => {
  const call = async (method: string, path: string, sent?: Sent): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${port}/v1${path}`, {
      method,
      headers: { ...headers, ...(sent === undefined ? {} : { 'content-type': sent.type }) },
      ...(sent === undefined ? {} : { body: Buffer.from(sent.body, 'latin1') }),
      signal: AbortSignal.timeout(withinSeconds * 1000),
    });
    const text = Buffer.from(await response.arrayBuffer()).toString('latin1');
    if (response.ok) return text;
    throw new Error(`${method} ${path} responded ${response.status}: ${text.slice(0, 300)}`);
  };
  const made = async (path: string, sent: Sent): Promise<string> =>
    first(await call('POST', path, sent), /"id":"([^"]+)"/);
  const rendered = async (path: string, sent: Sent): Promise<string> => {
    const id = await made(path, sent);
    const isDone = async (): Promise<boolean> =>
      (await call('GET', `${path}/${id}`)).includes('"status":"completed"');
    if (await eventually(isDone, withinSeconds)) return id;
    throw new Error(`${path}/${id} did not complete within ${withinSeconds} s`);
  };

  const store = await made('/vector_store', json({ name: 'bench' }));
  const file = await made(`/vector_store/${store}/files`, form({}, 'handbook.md', handbook));
  return {
    store,
    uploads: await made('/vector_store', json({ name: 'uploads' })),
    file,
    item: first(await call('GET', `/vector_store/${store}/items`), /"id":"(item_[^"]+)"/),
    video: await rendered('/videos', video),
    song: await rendered('/music', song),
    link: first(
      await call('POST', '/images/generations', picture('near/image', 'url')),
      /"url":"[^"]*\/v1(\/blobs\/[^"]+)"/,
    ),
    recording: await call(
      'POST',
      '/audio/speech',
      json({ model: 'near/speech', input: 'The gates are open.', response_format: 'wav' }),
    ),
  };
};

const first = (text: string, pattern: RegExp): string => {
  const found = pattern.exec(text)?.[1];
  if (found === undefined) throw new Error(`no ${pattern} in ${text.slice(0, 300)}`);
  return found;
};
