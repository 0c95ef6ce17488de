/** Creates a few records of each kind on a gateway for fuzz requests to refer to. */
import type { Operation } from './document.ts';
import type { RecordKind, Records } from './records.ts';
import { bodySamples } from './samples.ts';
import type { Answer } from './verdict.ts';

export interface PlainRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}
export type Send = (request: PlainRequest) => Promise<Answer>;

const creations = [
  ['postVectorStore', '/vector_store'],
  ['postVectorStores', '/vector_stores'],
  ['postVideos', '/videos'],
  ['postMusic', '/music'],
  ['postImages', '/images'],
] as const;

const form =
  '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nWater.\r\n--b--\r\n';

export const prepareRecords = async (key: string, records: Records, send: Send): Promise<void> => {
  const make = async (id: string, method: string, path: string, body?: string, type = ''): Promise<void> => {
    const headers = { authorization: `Bearer ${key}`, ...(type === '' ? {} : { 'content-type': type }) };
    const answer = await send({
      method,
      path,
      headers,
      body: body === undefined ? undefined : Buffer.from(body),
    });
    if (answer.status >= 300)
      throw new Error(`${method} ${path} answered ${answer.status}: ${answer.body.toString().slice(0, 300)}`);
    remember({ id }, path, answer, records);
  };
  const create = (): Promise<void> =>
    inTurn(creations, ([id, path]) =>
      make(id, 'POST', path, JSON.stringify(bodySamples[id]), 'application/json'),
    );
  await create();
  await create();
  // Some to delete as responses, and some as streams.
  const background = JSON.stringify({ ...bodySamples.postResponses, background: true });
  for (let number = 0; number < 8; number++) {
    await make('background', 'POST', '/responses', background, 'application/json');
    if (number > 3) records.add('stream', records.take('response').replace('resp_', 'stream_'));
  }
  const store = `/vector_store/${records.first('store')}`;
  const addFile = (): Promise<void> =>
    make('postVectorStoreByIdFiles', 'POST', `${store}/files`, form, 'multipart/form-data; boundary=b');
  await addFile();
  await addFile();
  await make('getVectorStoreByIdItems', 'GET', `${store}/items`);
  // Files to delete, whose items nobody knows.
  await addFile();
  await addFile();
};

const inTurn = async <T>(items: readonly T[], each: (item: T) => Promise<void>): Promise<void> => {
  for (const item of items) await each(item);
};

const kinds: Readonly<Record<string, RecordKind>> = {
  postVectorStore: 'store',
  postVectorStores: 'store',
  postVectorStoreByIdFiles: 'file',
  postVectorStoresByIdFiles: 'file',
  getVectorStoreByIdItems: 'item',
  postVideos: 'video',
  postMusic: 'music',
  background: 'response',
};

export const remember = (
  { id }: Pick<Operation, 'id'>,
  path: string,
  { status, body }: Answer,
  records: Records,
): void => {
  if (status >= 300 || body.length > 100_000) return;
  if (/\/(?:files|items)\b/.test(path) && !path.includes(records.first('store'))) return;
  const text = body.toString();
  const kind = kinds[id];
  if (kind !== undefined)
    for (const [, found = ''] of [...text.matchAll(/"id":"([\w-]+)"/g)].slice(0, 5)) records.add(kind, found);
  for (const [, link = ''] of text.matchAll(/"url":"[^"]*\/v1\/blobs\/([^"]+)"/g)) records.add('link', link);
};
