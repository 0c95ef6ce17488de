/** The Content-Security-Policy of each page. */

export interface Origins {
  /** Where the pages may send requests to, beside their own. */
  readonly connect: readonly string[];
  /** Where pictures, videos and sounds of results may come from, beside those. */
  readonly media: readonly string[];
}

const list = (directives: Readonly<Record<string, readonly string[]>>): string =>
  Object.entries(directives)
    .map(([name, values]) => `${name} ${values.join(' ')}`)
    .join('; ');

const common = {
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
};

/** No inline script or style, nothing from elsewhere; no text can become markup. */
export const pagePolicy = ({ connect, media }: Origins): string =>
  list({
    'default-src': ["'none'"],
    'script-src': ["'self'"],
    'style-src': ["'self'"],
    'font-src': ["'self'"],
    'img-src': ["'self'", 'data:', 'blob:', ...connect, ...media],
    'media-src': ["'self'", 'data:', 'blob:', ...connect, ...media],
    'connect-src': ["'self'", ...connect],
    ...common,
    'require-trusted-types-for': ["'script'"],
    'trusted-types': ["'none'"],
  });

/** The viewer of the API reference writes style elements and inline styles. */
export const referencePolicy = list({
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'", "'unsafe-inline'"],
  'font-src': ["'self'", 'data:'],
  'img-src': ["'self'", 'data:'],
  'connect-src': ["'self'"],
  ...common,
});

const hostName = /^(?:[a-z0-9.-]{1,255}|\[[0-9a-f:.]{2,45}\])(?=:\d+$|$)/i;

/**
 * The public port by its own address and by the name under which the browser knows this machine: a gateway that
 * listens on all addresses links to loopback.
 */
export const originsOf = (publicUrl: string, host = ''): readonly string[] => {
  if (!URL.canParse(publicUrl)) return [];
  const { origin, protocol, port } = new URL(publicUrl);
  const name = hostName.exec(host)?.[0];
  const byName = name === undefined ? [] : [`${protocol}//${name}${port === '' ? '' : `:${port}`}`];
  return [...new Set([origin, ...byName])];
};
