/** Names of blobs that are safe in paths and URLs, and the time segments of their expiry markers. */
const part = '[A-Za-z0-9_-][A-Za-z0-9_.-]*';
const pattern = new RegExp(`^${part}(?:/${part})*$`);
/** A file system takes 255 bytes, and a marker carries the whole name. */
const longest = 200;

export const isBlobName = (name: string): boolean => name.length <= longest && pattern.test(name);

/** Names are made by the gateway, so a bad one is a bug. */
export const checkedName = (name: string): string => {
  if (!isBlobName(name)) throw new Error(`"${name.slice(0, longest)}" is no name for a blob`);
  return name;
};

const segmentMs = 10 * 60_000;

/**
 * A sweep reads only segments that are due. One ahead, whatever the time, so that no sweep is at work there while the
 * marker is written.
 */
export const segmentOf = (expiresAt: number): string =>
  String(Math.floor(Math.max(expiresAt, Date.now()) / segmentMs) + 2);

export const isDue = (segment: string, now: number): boolean => {
  const time = Number(segment);
  return Number.isInteger(time) && time * segmentMs <= now;
};
