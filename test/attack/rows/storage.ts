/** Attacks on the disk: uploads, which no limit of a model bounds. */
import { setTimeout as delay } from 'node:timers/promises';
import { Outcomes } from '../requests.ts';
import type { Row } from '../row.ts';

const mebibyte = 1024 * 1024;
const diskMegabytes = 128;
const quota = 48 * mebibyte;
const reserve = 32 * mebibyte;
/** Where a large file is refused, a smaller one may still find room. */
const sizes = [12 * mebibyte, mebibyte, 64 * 1024] as const;
const mostUploads = 400;
const clients = 4;

const textOf = (bytes: number): Blob => new Blob(['The water rises. '.repeat(bytes / 17)]);

const uploads: Row = {
  name: 'uploads',
  title: `uploads to a vector store until a disk of ${diskMegabytes} MiB is full; ${clients} clients in a loop`,
  victim: 'chat',
  maxRss: 384,
  seconds: 20,
  gateway: {
    diskMegabytes,
    environment: { SLUICE_STORAGE_BYTES: String(quota), SLUICE_DISK_RESERVE_MB: String(reserve / 2 ** 20) },
  },
  attack: async ({ url, key, signal }) => {
    const outcomes = new Outcomes();
    const headers = { authorization: `Bearer ${key}` };
    const texts = sizes.map(textOf);
    const created = await fetch(`${url}/vector_store`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{}',
      signal,
    });
    const { id } = (await created.json()) as { id: string };
    let number = 0;
    let size = 0;
    const upload = async (): Promise<void> => {
      while (number++ < mostUploads && !signal.aborted) {
        const text = texts[size] ?? textOf(0);
        const form = new FormData();
        form.set('file', text, `water-${number}.txt`);
        const order = { method: 'POST', headers, body: form, signal };
        const status = await fetch(`${url}/vector_store/${id}/files`, order).then(
          (response) => String(response.status),
          () => 'cut',
        );
        outcomes.add(status);
        if (status === '201') outcomes.add('bytes', text.size);
        else size = Math.min(size + 1, texts.length - 1);
        await delay(50);
      }
    };
    await Promise.all(Array.from({ length: clients }, upload));
    return outcomes.report;
  },
  check: ({ bytes = 0 }) =>
    bytes > quota ? `${bytes} bytes were stored, over the quota of ${quota}` : undefined,
};

export const storageRows: readonly Row[] = [uploads];
