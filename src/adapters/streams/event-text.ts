/** Finds events in the text of a stream: each ends with an empty line. */
import { copied } from '../../helpers/copied.ts';

const NEWLINE = 10;

/** Where texts are encoded; three bytes are the most for a unit of a string. */
const memory = Buffer.allocUnsafeSlow(3 * 64 * 1024);

/** Borrowed until the next call. */
export const encoded = (text: string): Uint8Array =>
  3 * text.length > memory.length ? Buffer.from(text) : memory.subarray(0, memory.write(text));

/** Where the text goes on after so many events. */
export const endOfEvents = (bytes: Uint8Array, count: number): number => {
  let at = 0;
  for (let left = count; left > 0; left--) {
    const end = endOfEvent(bytes, at);
    if (end === -1) return bytes.length;
    at = end;
  }
  return at;
};

const endOfEvent = (bytes: Uint8Array, from: number): number => {
  for (let at = bytes.indexOf(NEWLINE, from); at !== -1; at = bytes.indexOf(NEWLINE, at + 1))
    if (bytes[at + 1] === NEWLINE) return at + 2;
  return -1;
};

/** Without its first events. */
export const afterEvents = (text: string, count: number): string => {
  let at = 0;
  for (let left = count; left > 0; left--) {
    const end = text.indexOf('\n\n', at);
    if (end === -1) return '';
    at = end + 2;
  }
  return at === 0 ? text : text.slice(at);
};

export const firstEvent = (text: string): string => copied(text.slice(0, text.indexOf('\n\n') + 2));

export const lastEvent = (text: string): string => text.slice(text.lastIndexOf('\n\n', text.length - 3) + 2);

export const countEvents = (text: string): number => {
  let count = 0;
  for (let at = text.indexOf('\n\n'); at !== -1; at = text.indexOf('\n\n', at + 2)) count++;
  return count;
};
