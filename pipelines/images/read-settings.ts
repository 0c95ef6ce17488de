/** Reads steps, guidance and negative prompt, from the top level or from `provider.options`. */
import type { ImageParameters } from '../../schemas/image-capabilities.ts';
import { isObject } from '../../src/helpers/json-schema.ts';
import { namesOf, type Setting, settings } from '../../src/images/spec.ts';
import { checkRange, checkText, invalid } from '../core/checks.ts';
import type { JsonObject } from '../core/parse-json.ts';

interface ImageSettings {
  readonly steps: number | undefined;
  readonly guidanceScale: number | undefined;
  readonly negativePrompt: string | undefined;
}

interface Place {
  readonly path: string;
  readonly values: JsonObject;
}

/** Each has several names; the first one present wins. */
export const readImageSettings = (fields: JsonObject, parameters: ImageParameters): ImageSettings => {
  const { steps, guidance_scale, negative_prompt } = parameters;
  const places = [{ path: '', values: fields }, ...optionPlaces(fields, parameters)];
  const number = (setting: Setting, range: typeof steps | typeof guidance_scale): number | undefined =>
    range &&
    (first(places, namesOf(setting, parameters), (value, path) =>
      checkRange(value, path, range, setting === 'steps'),
    ) ??
      range.default);
  const guidanceScale = number('guidance_scale', guidance_scale);
  const negativePrompt =
    negative_prompt &&
    first(places, namesOf('negative_prompt', parameters), (value, path) =>
      checkText(value, path, negative_prompt.max_length),
    );
  return {
    steps: number('steps', steps),
    guidanceScale,
    // Without guidance it must change nothing, whatever an engine would do with it.
    negativePrompt: guidanceScale === 0 ? undefined : negativePrompt,
  };
};

/** Every form is checked, so that a mistake is never hidden by a form that wins over it. */
const first = <T>(
  places: readonly Place[],
  names: readonly string[],
  check: (value: unknown, path: string) => T,
): T | undefined => {
  let found: T | undefined;
  for (const { path, values } of places)
    for (const name of names) {
      const value = values[name];
      if (value === undefined || value === null) continue;
      const checked = check(value, path + name);
      found ??= checked;
    }
  return found;
};

/** Flat, and keyed by a provider's slug, as clients of routers send them. */
const optionPlaces = ({ provider }: JsonObject, parameters: ImageParameters): readonly Place[] => {
  const options = isObject(provider) && isObject(provider.options) ? provider.options : {};
  const known = new Set(settings.flatMap((setting) => namesOf(setting, parameters)));
  const flat: Place = { path: 'provider.options.', values: options };
  const keyed: Place[] = [];
  for (const [key, value] of Object.entries(options)) {
    if (value === null || known.has(key)) continue;
    if (!isObject(value)) throw undeclared(`provider.options.${key}`, known);
    keyed.push({ path: `provider.options.${key}.`, values: value });
  }
  for (const { path, values } of keyed)
    for (const key of Object.keys(values))
      if (values[key] !== null && !known.has(key)) throw undeclared(path + key, known);
  return [flat, ...keyed];
};

const undeclared = (path: string, known: ReadonlySet<string>) =>
  invalid(
    known.size === 0
      ? `${path.slice(0, 200)} is not supported: the model takes no options`
      : `${path.slice(0, 200)} is not supported: the model takes ${[...known].join(', ')}`,
  );
