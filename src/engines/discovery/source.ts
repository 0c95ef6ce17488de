/** Where the replicas of an engine are found, as `replicas` of its row names it. */

export type Source =
  | {
      readonly kind: 'dns';
      readonly scheme: Scheme;
      readonly name: string;
      readonly port: number;
      readonly path: string;
    }
  | { readonly kind: 'srv'; readonly scheme: Scheme; readonly name: string; readonly path: string }
  | { readonly kind: 'file'; readonly file: string }
  | ({ readonly kind: 'kubernetes' } & Service);

/** A service of a Kubernetes cluster. */
export interface Service {
  readonly scheme: Scheme;
  readonly name: string;
  readonly namespace: string;
  /** Number or name of the port that its pods listen on; absent: they have only one. */
  readonly port?: string;
  readonly path: string;
}

export type Scheme = 'http' | 'https';

const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const path = '(?<path>/[^\\s?#]*)?';
const forms = {
  dns: `dns\\+(?<scheme>https?)://(?<name>${label}(?:\\.${label})*\\.?)(?::(?<port>[0-9]{1,5}))?${path}`,
  srv: `dns\\+(?<scheme>https?)://(?<name>_${label}\\._tcp(?:\\.${label})+\\.?)${path}`,
  file: 'file:(?<file>[^\\s].*)',
  kubernetes: `k8s\\+(?<scheme>https?)://(?<name>${label})\\.(?<namespace>${label})(?:\\.svc(?:\\.${label})*)?(?::(?<port>[a-z0-9-]{1,15}))?${path}`,
} as const;

const examples =
  'dns+http://vllm.default.svc:8000/v1, k8s+http://vllm.default:8000/v1 or file:/etc/sluice/replicas.yaml';

/** Throws a sentence that says what is expected. */
export const parseSource = (text: string): Source => {
  const found = Object.entries(forms).flatMap(([kind, form]) => {
    const match = new RegExp(`^${form}$`).exec(text);
    return match === null ? [] : [{ kind, groups: match.groups ?? {} }];
  });
  const [first] = found;
  if (first === undefined) throw new Error(`must be a list of addresses, or a source such as ${examples}`);
  const { kind, groups } = first;
  const scheme: Scheme = groups.scheme === 'https' ? 'https' : 'http';
  const name = groups.name ?? '';
  const below = (groups.path ?? '').replace(/\/+$/, '');
  switch (kind) {
    case 'file':
      return { kind, file: groups.file ?? '' };
    case 'srv':
      return { kind, scheme, name, path: below };
    case 'kubernetes':
      return {
        kind,
        scheme,
        name,
        namespace: groups.namespace ?? '',
        ...(groups.port !== undefined && { port: groups.port }),
        path: below,
      };
    default:
      return { kind: 'dns', scheme, name, port: portOf(groups.port, scheme), path: below };
  }
};

const portOf = (text: string | undefined, scheme: Scheme): number => {
  const port = text === undefined ? (scheme === 'https' ? 443 : 80) : Number(text);
  if (port < 1 || port > 65_535) throw new Error(`names the port ${port}, which does not exist`);
  return port;
};

/** An address as a base URL. */
export const addressUrl = (scheme: Scheme, address: string, port: number, below: string): string =>
  `${scheme}://${address.includes(':') ? `[${address}]` : address}:${port}${below}`;
