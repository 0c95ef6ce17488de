/** Reads settings of a render from the top level or `provider.options`: 400 for a key that is not declared. */
import type { Model } from '../../schemas/catalog.ts';
import { providerSlug } from '../../schemas/render.ts';
import { fail } from '../../src/errors.ts';
import { subject } from '../core/validation/explain-schema.ts';

interface Settings {
  readonly [name: string]: unknown;
}

interface Layer {
  readonly path: string;
  readonly values: Settings;
}

export interface Setting<T> {
  /** As the client would find it in its request. */
  readonly field: string;
  readonly value: T | undefined;
}

interface SettingsBody {
  readonly provider?: { readonly options?: Settings } | undefined;
}

/** The top level before options, options before those under our name. */
export const readSettings = <Body extends SettingsBody>(body: Body, declared: readonly string[]) => {
  const layers = layersOf(body, declared);
  return <Name extends keyof Body & string>(name: Name): Setting<Body[Name]> => {
    const layer = layers.find(({ values }) => values[name] !== undefined);
    return {
      field: `${layer?.path ?? ''}${name}`,
      value: layer?.values[name] as Body[Name] | undefined,
    };
  };
};

const layersOf = (body: SettingsBody, declared: readonly string[]): readonly Layer[] => {
  const options = body.provider?.options;
  const top = { path: '', values: { ...body } };
  if (options === undefined) return [top];
  const own = (options[providerSlug] ?? {}) as Settings;
  const inner = (own.parameters ?? {}) as Settings;
  const path = ['provider', 'options'];
  return [
    top,
    layer(path, options, [...declared, providerSlug]),
    layer([...path, providerSlug], own, [...declared, 'parameters']),
    layer([...path, providerSlug, 'parameters'], inner, declared),
  ];
};

const layer = (path: readonly string[], values: Settings, declared: readonly string[]): Layer => {
  const undeclared = Object.keys(values).find((name) => !declared.includes(name) && values[name] !== null);
  if (undeclared !== undefined)
    throw fail('unsupported_parameter', `${subject([...path, undeclared])} is not an option of this model`);
  return { path: `${path.join('.')}.`, values };
};

/** Taken by every model. */
const common = new Set(['model', 'prompt', 'callback_url', 'provider', 'user', 'session_id', 'trace']);

/** Rejects fields that the model does not support. `aliases` maps other names of a field to it. */
export const checkFields = (
  body: object,
  model: Model,
  aliases: Readonly<Record<string, string>> = {},
): void => {
  const taken = new Set(model.supported_parameters);
  const undeclared = Object.entries(body).find(
    ([name, value]) => value !== null && !common.has(name) && !taken.has(aliases[name] ?? name),
  );
  if (undeclared !== undefined)
    throw fail('unsupported_parameter', `${subject([undeclared[0]])} is not taken by model ${model.id}`);
};

export const declaredSettings = (names: readonly string[], model: Model): readonly string[] =>
  names.filter((name) => model.supported_parameters.includes(name));

/** A whole number that may have come as text. */
export const numberOf = (value: number | string | undefined): number | undefined =>
  value === undefined ? undefined : Number(value);
