/** What decoders pick out of an answer that is read as it comes: small values, parsed. */
import { type RawPick, unreadable } from '../../json-picker.ts';

export const parsedField = (take: (value: unknown) => void): RawPick => ({
  raw: (bytes) => take(parsed(bytes)),
});

const parsed = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw unreadable(cause);
  }
};
