/** Reads the tunable fields of a speech request, from its top level or from `provider.options`. */
import { SpeechOptions } from '../../schemas/speech.ts';
import { ApiError, fail } from '../../src/errors.ts';
import { isObject } from '../../src/json-schema.ts';
import { validate } from '../core/validate.ts';

export interface Given<T> {
  readonly value: T;
  /** The path it was sent under, named in errors. */
  readonly field: string;
}

export type GivenOptions = {
  readonly [Name in keyof SpeechOptions]?: Given<NonNullable<SpeechOptions[Name]>>;
};

type Fields = Readonly<Record<string, unknown>>;

const names = Object.keys(SpeechOptions.properties);
const speechOptions = validate(SpeechOptions);

/** The top level wins; then options by themselves; then those under a provider's name. */
export const readSpeechOptions = (body: Fields): GivenOptions => {
  const given: Record<string, Given<unknown>> = {};
  const take = (fields: Fields, path: string): void => {
    for (const name of names)
      if (given[name] === undefined && fields[name] !== undefined && fields[name] !== null)
        given[name] = { value: fields[name], field: path + name };
  };
  take(body, '');
  const options = isObject(body.provider) ? body.provider.options : undefined;
  if (isObject(options)) {
    take(checked(options, 'provider.options.'), 'provider.options.');
    for (const [provider, own] of Object.entries(options))
      if (!names.includes(provider) && isObject(own)) {
        const path = `provider.options.${provider.slice(0, 64)}.`;
        take(checked(own, path), path);
      }
  }
  return given as GivenOptions;
};

/** An error names the whole path of the field. */
const checked = (options: Fields, path: string): Fields => {
  try {
    return speechOptions(
      Object.fromEntries(Object.entries(options).filter(([name]) => names.includes(name))),
    );
  } catch (error) {
    throw error instanceof ApiError ? fail(error.kind, path + error.message) : error;
  }
};
