/** The name of a blob in; the same out, known to be safe in a path and in an address. */

const part = '[A-Za-z0-9_-][A-Za-z0-9_.-]*';
const pattern = new RegExp(`^${part}(?:/${part})*$`);
/** A file system takes 255 bytes, and a marker carries the whole name. */
const longest = 200;

export const isBlobName = (name: string): boolean => name.length <= longest && pattern.test(name);

/** Names are made by the house, so a bad one is a fault of ours. */
export const checkedName = (name: string): string => {
  if (!isBlobName(name)) throw new Error(`"${name.slice(0, longest)}" is no name for a blob`);
  return name;
};
