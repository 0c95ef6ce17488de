/** What decoders pick out of an answer that is read as it comes: small values, parsed. */
import { type Pick, type RawPick, unreadable } from '../../json-picker.ts';

export const parsedField = <Into>(take: (value: unknown, into: Into) => void): RawPick<Into> => ({
  raw: (bytes, into) => take(parsed(bytes), into),
});

/** Where the fields of an answer that are kept by their names go. */
export interface Fields {
  readonly fields: Record<string, unknown>;
}

export const namedFields = (...names: readonly string[]): [string, Pick<Fields>][] =>
  names.map((name) => [
    name,
    parsedField((value, { fields }) => {
      fields[name] = value;
    }),
  ]);

/** Those that tell of a failure. */
export const failureFields = namedFields('error', 'error_type', 'object', 'message', 'code', 'type');

const parsed = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw unreadable(cause);
  }
};
