/** Decodes responses as they arrive by picking the fields that are needed. */

import type { BodyDecoder } from '../../wire.ts';
import { parseJson } from '../shared/json.ts';
import { JsonPicker, type Pick, type RawPick } from '../shared/json-picker.ts';
import { reportedError } from '../shared/reported-error.ts';

/** `result` is called with what was picked, unless the response reports an error. */
export const pickingDecoder = <Picked extends Fields, Result>(
  pick: Pick<Picked>,
  picked: Picked,
  result: (picked: Picked) => Result,
): BodyDecoder<Result> => {
  const picker = new JsonPicker(pick, picked);
  return {
    push: (bytes) => picker.push(bytes),
    end: () => {
      picker.end();
      const failure = reportedError(picked.fields);
      if (failure !== undefined) throw failure;
      return result(picked);
    },
  };
};

export const parsedField = <Into>(take: (value: unknown, into: Into) => void): RawPick<Into> => ({
  raw: (bytes, into) => take(parseJson(bytes.toString('utf8')), into),
});

/** Where fields that are kept by name go. */
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

/** Those that report a failure. */
export const failureFields = namedFields('error', 'error_type', 'object', 'message', 'code', 'type');
