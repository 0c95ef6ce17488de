/** The forms in which clients write a model id: alias prefix, `-normalize`, `:variant`. */

/** Some clients of the messages format use only models whose id starts with this; every model answers to it. */
export const aliasPrefix = 'anthropic/';

const normalizeSuffix = '-normalize';

interface ParsedName {
  readonly name: string;
  readonly variant: string | undefined;
}

export const withoutAlias = (id: string): string =>
  id.startsWith(aliasPrefix) ? id.slice(aliasPrefix.length) : id;

const withoutNormalize = (id: string): string =>
  id.endsWith(normalizeSuffix) ? id.slice(0, -normalizeSuffix.length) : id;

/** Ids hold no colon, so the first one ends the id. The `-normalize` suffix may stand on either side of it. */
export const parseName = (id: string): ParsedName => {
  const whole = withoutNormalize(id);
  const colon = whole.indexOf(':');
  if (colon < 0) return { name: whole, variant: undefined };
  const variant = whole.slice(colon + 1);
  return { name: withoutNormalize(whole.slice(0, colon)), variant: variant === '' ? undefined : variant };
};
