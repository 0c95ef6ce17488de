/** Keys in the bucket: `files/<name>`, and `expiring/<time>/<name>` as markers for sweeps. */
import { checkedName, isDue, segmentOf } from './blob-names.ts';

export const markers = 'expiring/';

export const objectKey = (name: string): string => `files/${checkedName(name)}`;

export const markerKey = (name: string, expiresAt: number): string =>
  `${markers}${segmentOf(expiresAt)}/${checkedName(name)}`;

/** The name a marker stands for, once its time is over. */
export const dueName = (marker: string, now: number): string | undefined => {
  const [, segment = '', name] = /^expiring\/(\d+)\/(.+)$/.exec(marker) ?? [];
  return name !== undefined && isDue(segment, now) ? name : undefined;
};
