/** Finds the routes of a path, and the parameters in it. */
import type { Method, Route } from '../../pipelines/route.ts';
import { fail } from '../errors.ts';
import { RouteStats } from '../metrics/route-stats.ts';

export type Params = Readonly<Record<string, string>>;

/** A route and the count of its responses. */
export type ServedRoute = Route & { readonly stats: RouteStats };

/** The routes of one path, and what its parameters are in this request. */
export interface Found {
  readonly byMethod: ReadonlyMap<string, ServedRoute>;
  /** Value of `Allow`. */
  readonly allow: string;
  readonly params: Params;
}

interface Node {
  readonly statics: Map<string, Node>;
  parameter: Node | undefined;
  here: Entry | undefined;
  rest: Entry | undefined;
}

interface Entry {
  readonly names: readonly string[];
  readonly idPrefix: string;
  readonly byMethod: Map<string, ServedRoute>;
  allow: string;
}

const none: Params = {};

export class RouteTable {
  /** What all paths begin with. */
  readonly #prefix: string;
  readonly #statics = new Map<string, Found>();
  readonly #tree: Node = newNode();
  readonly stats: RouteStats[] = [];
  /** The fixed start of the paths of routes that declare their errors. */
  readonly #errors = new Map<string, Route['errors']>();

  constructor(routes: readonly Route[], prefix: '/v1' | '' = '/v1') {
    this.#prefix = prefix;
    for (const route of routes) this.#add(route);
  }

  /** Undefined for an unknown path. Throws `invalid_request` when a parameter is badly percent-encoded. */
  find(path: string): Found | undefined {
    return this.#statics.get(path) ?? this.#search(path);
  }

  /** How the nearest route writes its errors, for paths and methods that have no route of their own. */
  errorsNear(path: string): Route['errors'] {
    const start = [...this.#errors.keys()]
      .filter((each) => path === each || path.startsWith(`${each}/`))
      .reduce((longest, each) => (each.length > longest.length ? each : longest), '');
    return this.#errors.get(start);
  }

  #search(path: string): Found | undefined {
    const prefix = this.#prefix;
    // One trailing slash changes nothing: people paste addresses with and without it.
    const plain = path.length > prefix.length + 1 && path.endsWith('/') ? path.slice(0, -1) : path;
    const found = this.#statics.get(plain);
    if (found !== undefined || !plain.startsWith(`${prefix}/`)) return found;
    const segments = plain.slice(prefix.length + 1).split('/');
    if (segments.includes('')) return undefined;
    const values: string[] = [];
    const entry = search(this.#tree, segments, 0, values);
    if (entry === undefined || values[0]?.startsWith(entry.idPrefix) === false) return undefined;
    const params: Record<string, string> = {};
    entry.names.forEach((name, index) => {
      params[name] = decode(values[index] ?? '', name);
    });
    return { byMethod: entry.byMethod, allow: entry.allow, params };
  }

  #add(route: Route): void {
    const { node, names, isRest } = this.#place(route);
    const entry = (isRest ? node.rest : node.here) ?? {
      names,
      idPrefix: route.idPrefix ?? '',
      byMethod: new Map<string, ServedRoute>(),
      allow: '',
    };
    if (isRest) node.rest = entry;
    else node.here = entry;
    checkClash(route, names, entry);
    if (route.errors !== undefined) this.#errors.set(this.#prefix + fixedStart(route), route.errors);
    const stats = new RouteStats(route.method, route.path);
    this.stats.push(stats);
    const served = { ...route, stats };
    entry.byMethod.set(route.method, served);
    if (route.method === 'GET') entry.byMethod.set('HEAD', served);
    entry.allow = order.filter((method) => method === 'OPTIONS' || entry.byMethod.has(method)).join(', ');
    if (names.length === 0) this.#statics.set(this.#prefix + route.path, { ...entry, params: none });
  }

  /** The node where a route ends; creates those that are missing. */
  #place(route: Route): { node: Node; names: string[]; isRest: boolean } {
    const names: string[] = [];
    let node = this.#tree;
    let isRest = false;
    for (const segment of route.path.split('/').slice(1)) {
      if (isRest) throw new Error(`${title(route)} has a {name+} parameter that is not last`);
      const [, name, plus] = /^\{(\w+)(\+?)\}$/.exec(segment) ?? [];
      if (name !== undefined) names.push(name);
      isRest = plus === '+';
      if (!isRest) node = name === undefined ? fixedChild(node, segment) : parameterChild(node);
    }
    return { node, names, isRest };
  }
}

const fixedChild = (node: Node, segment: string): Node => {
  const child = node.statics.get(segment) ?? newNode();
  node.statics.set(segment, child);
  return child;
};

const parameterChild = (node: Node): Node => {
  node.parameter ??= newNode();
  return node.parameter;
};

const checkClash = (route: Route, names: readonly string[], entry: Entry): void => {
  if (entry.byMethod.has(route.method)) throw new Error(`${title(route)} is in the route table twice`);
  const [other] = entry.byMethod.values();
  if (other !== undefined && entry.names.join() !== names.join())
    throw new Error(`${title(route)} has other parameter names than ${title(other)}`);
  if ((route.idPrefix ?? '') !== entry.idPrefix)
    throw new Error(`${title(route)} has ids of another form than the other methods of its path`);
};

/** `/models` of `/models/{id+}`. */
const fixedStart = ({ path }: Route): string => path.replace(/\/\{.*/, '');

const title = ({ method, path }: Route): string => `${method} ${path}`;

const order: readonly (Method | 'HEAD' | 'OPTIONS')[] = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
];

/** Segment by segment, the fixed word before the parameter before the rest of the path. */
const search = (node: Node, segments: readonly string[], at: number, values: string[]): Entry | undefined => {
  const segment = segments[at];
  if (segment === undefined) return node.here;
  const fixed = node.statics.get(segment);
  const found = fixed && search(fixed, segments, at + 1, values);
  if (found !== undefined) return found;
  if (node.parameter !== undefined) {
    values.push(segment);
    const entry = search(node.parameter, segments, at + 1, values);
    if (entry !== undefined) return entry;
    values.pop();
  }
  if (node.rest !== undefined) values.push(segments.slice(at).join('/'));
  return node.rest;
};

const decode = (value: string, name: string): string => {
  if (!value.includes('%')) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    throw fail('invalid_request', `${name} in the path is not valid percent-encoding`);
  }
};

function newNode(): Node {
  return { statics: new Map(), parameter: undefined, here: undefined, rest: undefined };
}
