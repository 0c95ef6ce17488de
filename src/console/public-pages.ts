/** The routes of the public port outside `/v1`: the page for client developers and the API reference. */
import { from, map, of } from 'rxjs';
import type { Route } from '../../pipelines/route.ts';
import { fail } from '../errors.ts';
import type { Exchange, WholeReply } from '../ports/exchange.ts';
import type { PageFiles } from './files.ts';
import { type PageRequest, type PageResponse, redirectTo, respondWith, wantsPage } from './page.ts';
import { originsOf, pagePolicy, referencePolicy } from './policy.ts';

export interface PublicPagesOptions {
  readonly files: PageFiles;
  /** Base address for clients: the page may have been opened by another name of this machine. */
  readonly publicUrl: () => string;
  readonly mediaOrigins: readonly string[];
}

type PublicRoute = Extract<Route, { access: 'public' }>;

export const publicPages = ({ files, publicUrl, mediaOrigins }: PublicPagesOptions): readonly Route[] => {
  const file = (
    path: string,
    nameOf: (exchange: Exchange) => string,
    policyOf?: () => string,
  ): PublicRoute => ({
    method: 'GET',
    path,
    access: 'public',
    pipeline: (exchange) => {
      const request = requestOf(exchange);
      // As if there were no page: what clients of the API get does not change.
      if (path === '/' && !wantsPage(request)) throw noRoute(exchange);
      return from(respondWith(files, nameOf(exchange), request, policyOf?.())).pipe(
        map((response) => {
          if (response === undefined) throw noRoute(exchange);
          return whole(response);
        }),
      );
    },
  });
  return [
    file(
      '/',
      () => 'public.html',
      () => pagePolicy({ connect: originsOf(publicUrl()), media: mediaOrigins }),
    ),
    withoutSlash(
      file(
        '/reference',
        () => 'reference.html',
        () => referencePolicy,
      ),
    ),
    file('/favicon.ico', () => 'favicon.svg'),
    file('/robots.txt', () => 'robots.txt'),
    file('/assets/{name}', ({ params }) => `assets/${params.name}`),
    withoutSlash({
      method: 'GET',
      path: '/docs',
      access: 'public',
      pipeline: () => of(whole(redirectTo('reference'))),
    }),
  ];
};

/** Links of a page are relative: below a slash they would lead elsewhere. */
const withoutSlash = (route: PublicRoute): PublicRoute => ({
  ...route,
  pipeline: (exchange, request) =>
    exchange.path.endsWith('/')
      ? of(whole(redirectTo(`..${route.path}`)))
      : route.pipeline(exchange, request),
});

const requestOf = (exchange: Exchange): PageRequest => ({
  accept: exchange.header('accept'),
  acceptEncoding: exchange.header('accept-encoding'),
  ifNoneMatch: exchange.header('if-none-match'),
});

const whole = (response: PageResponse): WholeReply => ({ kind: 'whole', ...response });

const noRoute = ({ method, path }: Exchange) =>
  fail('not_found', `No route for ${method} ${path.slice(0, 200)}`);
