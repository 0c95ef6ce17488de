/** JSON of any shape out of a request in; the same out, with the long base64 that a large request's parser took out as bytes put back as text. */

/** Changes the value in place: such values are the request's own, and are sent on as they came. */
export const freeJson = <T>(value: T): T => textOf(value) as T;

const textOf = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  const members = value as Record<string, unknown>;
  for (const name in members) {
    const member = members[name];
    if (typeof member !== 'object' || member === null) continue;
    const text = textOf(member);
    if (text !== member) Object.defineProperty(members, name, { value: text });
  }
  return value;
};
