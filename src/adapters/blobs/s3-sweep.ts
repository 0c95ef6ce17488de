/** Removes expired blobs from the bucket; finds them by markers, which S3 lists in order of time. */
import type { S3Client } from './s3-client.ts';
import { dueName, markers, objectKey } from './s3-keys.ts';

interface S3SweepSetting {
  readonly client: S3Client;
  /** What every key of ours begins with. */
  readonly prefix: string;
  /** Unix milliseconds; undefined for an object without an end, or none at all. */
  readonly expiryOf: (name: string) => Promise<number | undefined>;
}

/** Rounds of a thousand markers in one sweep. */
const rounds = 100;

/** Several processes may sweep the same bucket: what is gone already is fine. */
export const sweepBucket = async (setting: S3SweepSetting, now: number): Promise<number> => {
  let removed = 0;
  for (let round = 0; round < rounds; round++) {
    const due = await dueMarkers(setting, now);
    for (const { marker, name } of due) {
      if (await removeExpired(setting, name, now)) removed += 1;
      await setting.client.ask({ method: 'DELETE', key: marker }, [404]);
    }
    if (due.length === 0) break;
  }
  return removed;
};

const dueMarkers = async ({ client, prefix }: S3SweepSetting, now: number) => {
  const query = { 'list-type': '2', prefix: prefix + markers, 'max-keys': '1000' };
  const { words } = await client.ask({ method: 'GET', query });
  return [...words.matchAll(/<Key>([^<]+)<\/Key>/g)].flatMap(([, key = '']) => {
    const marker = key.slice(prefix.length);
    const name = dueName(marker, now);
    return name === undefined ? [] : [{ marker, name }];
  });
};

/** Not when it was replaced by one that lives longer. */
const removeExpired = async (
  { client, expiryOf }: S3SweepSetting,
  name: string,
  now: number,
): Promise<boolean> => {
  if (((await expiryOf(name)) ?? Number.POSITIVE_INFINITY) > now) return false;
  await client.ask({ method: 'DELETE', key: objectKey(name) }, [404]);
  return true;
};
