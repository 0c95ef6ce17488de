/** The route table of the admin API. A new resource is a file in `resources` and a row here. */
import { fail } from '../errors.ts';
import { audit } from './resources/audit.ts';
import { budgets } from './resources/budgets.ts';
import { deliveries } from './resources/deliveries.ts';
import { engines } from './resources/engines.ts';
import { jobs } from './resources/jobs.ts';
import { keys } from './resources/keys.ts';
import { limits } from './resources/limits.ts';
import { live } from './resources/live.ts';
import { logs } from './resources/logs.ts';
import { models } from './resources/models.ts';
import { openapi } from './resources/openapi.ts';
import { requests } from './resources/requests.ts';
import { status } from './resources/status.ts';
import { subscriptions } from './resources/subscriptions.ts';
import { usage } from './resources/usage.ts';
import type { AdminRequest, AdminRoute } from './route.ts';

export const routes: readonly AdminRoute[] = [
  ...status,
  ...subscriptions,
  ...keys,
  ...limits,
  ...budgets,
  ...usage,
  ...models,
  ...engines,
  ...live,
  ...requests,
  ...logs,
  ...jobs,
  ...deliveries,
  ...audit,
  ...openapi(() => routes),
];

export interface FoundRoute {
  readonly route: AdminRoute;
  readonly params: Readonly<Record<string, string>>;
}

const patterns = routes.map((route) => ({
  route,
  names: [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
  pattern: new RegExp(`^${route.path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '([^/]+)')}$`),
}));

/** Throws 404 or 405. */
export const findRoute = ({ method, path }: Pick<AdminRequest, 'method' | 'path'>): FoundRoute => {
  const here = patterns.flatMap(({ route, names, pattern }) => {
    const values = pattern.exec(path)?.slice(1);
    return values === undefined ? [] : [{ route, names, values }];
  });
  const found = here.find(({ route }) => route.method === method);
  if (found !== undefined) return { route: found.route, params: decoded(found.names, found.values) };
  const shown = `/admin/v1${path.slice(0, 200)}`;
  if (here.length === 0) throw fail('not_found', `No route for ${method} ${shown}`);
  const allow = [...new Set(here.map(({ route }) => route.method))].join(', ');
  throw fail('method_not_allowed', `${method} is not allowed on ${shown}; it takes ${allow}`, {
    headers: { allow },
  });
};

const decoded = (names: readonly string[], values: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.map((name, index) => {
      try {
        return [name, decodeURIComponent(values[index] ?? '')];
      } catch {
        throw fail('invalid_request', `${name} in the path is not valid percent-encoding`);
      }
    }),
  );
