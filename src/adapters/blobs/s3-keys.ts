/** Names of blobs ↔ keys in the bucket: `files/<name>`, and `expiring/<time>/<name>` for what a sweep is to find. */
import { checkedName } from './blob-name.ts';
import { isDue, stretchOf } from './expiry-segment.ts';

export const markers = 'expiring/';

export const objectKey = (name: string): string => `files/${checkedName(name)}`;

export const markerKey = (name: string, expiresAt: number): string =>
  `${markers}${stretchOf(expiresAt)}/${checkedName(name)}`;

/** The name a marker stands for, once its time is over. */
export const dueName = (marker: string, now: number): string | undefined => {
  const [, stretch = '', name] = /^expiring\/(\d+)\/(.+)$/.exec(marker) ?? [];
  return name !== undefined && isDue(stretch, now) ? name : undefined;
};
