/** The texts of a form in; the values a JSON body would have out. What is no such value stays text, and is refused by its field's own rule. */
import type { ImageParameters } from '../../schemas/image-capabilities.ts';
import { fail } from '../../src/errors.ts';
import { namesOf } from '../../src/images/spec.ts';
import type { JsonObject } from '../core/parse-json.ts';

const numbers = ['n', 'width', 'height', 'output_compression', 'partial_images'];
const structures = ['provider', 'input_references', 'images', 'trace'];

export const readImageForm = (fields: JsonObject, parameters: ImageParameters): JsonObject => {
  const values: JsonObject = { ...fields };
  const change = (names: readonly string[], read: (text: string, name: string) => unknown): void => {
    for (const name of names) if (typeof values[name] === 'string') values[name] = read(values[name], name);
  };
  change([...numbers, ...namesOf('steps', parameters), ...namesOf('guidance_scale', parameters)], readNumber);
  change(['seed'], readSeed);
  change(['stream'], readBoolean);
  change(structures, readJson);
  return values;
};

const readNumber = (text: string): unknown => (/^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text);

const readSeed = (text: string): unknown => (/^-?\d{1,30}$/.test(text) ? BigInt(text) : text);

const readBoolean = (text: string): unknown => (text === 'true' ? true : text === 'false' ? false : text);

const readJson = (text: string, name: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw fail('invalid_request', `${name} must be JSON`, { cause });
  }
};
