/** What a key may be used for: until when, which models and routes, and from which addresses. */
import type { KeyRecord } from '../../schemas/records.ts';
import { fail } from '../errors.ts';
import { parseNetworks } from '../helpers/networks.ts';
import type { KeyScope } from '../ports/keys.ts';

/** Undefined for a key without restrictions: its requests pay nothing for them. */
export const scopeOf = (key: KeyRecord, now: () => number = Date.now): KeyScope | undefined => {
  const { expires, models, routes, networks } = key;
  if (expires === undefined && models === undefined && routes === undefined && networks === undefined)
    return undefined;
  const isModel = models === undefined ? undefined : pattern(models);
  const isRoute = routes === undefined ? undefined : pattern(routes.map(withMethod));
  const from = networks === undefined ? undefined : parseNetworks(networks);
  return {
    allowsModel: (id) => isModel === undefined || isModel.test(id),
    check: ({ method, path }, address) => {
      if (expires !== undefined && now() >= expires * 1000)
        throw fail('authentication', `The API key expired at ${new Date(expires * 1000).toISOString()}`);
      if (isRoute !== undefined && !isRoute.test(`${method} ${path}`))
        throw fail('authentication', `The API key may not be used for ${method} ${path}`);
      if (from !== undefined && !from.includes(address()))
        throw fail('authentication', 'The API key may not be used from this address');
    },
  };
};

/** Matches one of the texts, in which `*` stands for any characters. */
const pattern = (texts: readonly string[]): RegExp =>
  new RegExp(`^(?:${texts.map((text) => text.split('*').map(literal).join('.*')).join('|')})$`);

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** Without a method, all of them. */
const withMethod = (route: string): string => (route.startsWith('/') ? `* ${route}` : route);
