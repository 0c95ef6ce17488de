/** Attacks on the disk: uploads, which no limit of a model bounds. */
import { setTimeout as delay } from 'node:timers/promises';
import { Outcomes } from '../requests.ts';
import type { Row } from '../row.ts';

const mebibyte = 1024 * 1024;
const diskMegabytes = 256;
const quota = 64 * mebibyte;
const reserve = 32 * mebibyte;
const fileBytes = 20 * mebibyte;
const mostUploads = 40;

const uploads: Row = {
  name: 'uploads',
  title: `uploads of 20 MiB to vector stores until a disk of ${diskMegabytes} MiB is full`,
  victim: 'chat',
  maxRss: 512,
  gateway: {
    diskMegabytes,
    environment: { SLUICE_STORAGE_BYTES: String(quota), SLUICE_DISK_RESERVE: String(reserve) },
  },
  attack: async ({ url, key, signal }) => {
    const outcomes = new Outcomes();
    const headers = { authorization: `Bearer ${key}` };
    const text = new Blob(['The water rises. '.repeat(fileBytes / 17)]);
    const created = await fetch(`${url}/vector_store`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{}',
      signal,
    });
    const { id } = (await created.json()) as { id: string };
    for (let number = 0; number < mostUploads && !signal.aborted; number++) {
      const form = new FormData();
      form.set('file', text, `water-${number}.txt`);
      const body = { method: 'POST', headers, body: form, signal };
      const status = await fetch(`${url}/vector_store/${id}/files`, body).then(
        (response) => String(response.status),
        () => 'cut',
      );
      outcomes.add(status);
      if (status === '201') outcomes.add('MiB', text.size / mebibyte);
      await delay(50);
    }
    return outcomes.report;
  },
  check: ({ MiB = 0 }) =>
    MiB * mebibyte > quota
      ? `${Math.round(MiB)} MiB were stored, over the quota of ${quota / mebibyte}`
      : undefined,
};

export const storageRows: readonly Row[] = [uploads];
