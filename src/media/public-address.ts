/** Decides whether the service may call an address that a client gives; resolves nothing. */
import ipaddr from 'ipaddr.js';

/** `private` leads into our own networks; `forbidden` nowhere that anyone should be sent. */
export type Reach = 'public' | 'private' | 'forbidden';

export interface UrlRules {
  /** For tests: http and https to private addresses too; http never to a public one. */
  readonly allowPrivate: boolean;
  /** Ports below 1024 too: where we send to a receiver of the client's, and fetch nothing for it. */
  readonly anyPort?: boolean;
}

type Scheme = 'http:' | 'https:';

const privateRanges = new Set(['loopback', 'private', 'uniqueLocal', 'carrierGradeNat']);
/** Public by its number, but answered by the host of a cloud machine with that machine's secrets. */
const cloudHost = '168.63.129.16';
const lowestFreePort = 1024;
const longestUrl = 8192;

/** Of an address as the resolver or the socket writes it; anything else is forbidden. */
export const reachOf = (address: string): Reach => {
  if (!ipaddr.isValid(address)) return 'forbidden';
  const parsed = ipaddr.parse(address);
  return parsed.kind() === 'ipv4' ? reachOf4(parsed as ipaddr.IPv4) : reachOf6(parsed as ipaddr.IPv6);
};

const reachOf4 = (address: ipaddr.IPv4): Reach => {
  const range = address.range();
  if (range === 'unicast') return address.toString() === cloudHost ? 'forbidden' : 'public';
  return privateRanges.has(range) ? 'private' : 'forbidden';
};

const reachOf6 = (address: ipaddr.IPv6): Reach => {
  const range = address.range();
  if (range === 'ipv4Mapped') return reachOf4(address.toIPv4Address());
  if (privateRanges.has(range)) return 'private';
  const [first = 0, , third = 0, , , , seventh = 0, last = 0] = address.parts;
  // A network without IPv4 reaches public hosts through the well-known prefix of its translator.
  if (range === 'rfc6052' && third === 0) {
    const inner = new ipaddr.IPv4([seventh >> 8, seventh & 0xff, last >> 8, last & 0xff]);
    return reachOf4(inner) === 'public' ? 'public' : 'forbidden';
  }
  const isGlobal = first >> 13 === 1;
  return range === 'unicast' && isGlobal ? 'public' : 'forbidden';
};

export const mayConnect = (scheme: Scheme, address: string, { allowPrivate }: UrlRules): boolean => {
  const reach = reachOf(address);
  return (scheme === 'https:' && reach === 'public') || (allowPrivate && reach === 'private');
};

type CheckedUrl = { readonly url: URL } | { readonly problem: string };

/**
 * What can be checked before a name is resolved. Every odd spelling of an IPv4 address (decimal, octal, hexadecimal,
 * shortened) is brought to the common one by the URL parser. The problem completes a sentence that begins with the field.
 */
export const checkUrl = (text: string, rules: UrlRules): CheckedUrl => {
  const kind = rules.allowPrivate ? 'an https URL' : 'an https URL on a public host';
  if (text.length > longestUrl || !URL.canParse(text)) return { problem: `must be ${kind}` };
  const url = new URL(text);
  const scheme = url.protocol;
  if (!isScheme(scheme) || (scheme === 'http:' && !rules.allowPrivate)) return { problem: `must be ${kind}` };
  if (url.username !== '' || url.password !== '') {
    return { problem: 'must not hold a user name or password' };
  }
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const isNumber = ipaddr.isValid(host);
  if (isNumber && !mayConnect(scheme, host, rules)) return { problem: `must be ${kind}` };
  if (isLocalName(host) && !rules.allowPrivate) return { problem: `must be ${kind}` };
  if (scheme === 'http:' && !isNumber && !isPrivateName(host)) return { problem: `must be ${kind}` };
  if (!rules.allowPrivate && rules.anyPort !== true && !isOpenPort(url.port)) {
    return { problem: `must use port 443 or one from ${lowestFreePort} up` };
  }
  return { url };
};

const isScheme = (protocol: string): protocol is Scheme => protocol === 'https:' || protocol === 'http:';

const isLocalName = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost');

/** One label, or below a name that is reserved for private networks and tests: no such host is on the internet. */
const isPrivateName = (host: string): boolean =>
  /^[^.]+$|\.(?:localhost|local|internal|intranet|lan|home\.arpa|svc|test)$/.test(host);

/** The parser has taken the default port away. Below the limit live services that are not for the web. */
const isOpenPort = (port: string): boolean => port === '' || Number(port) >= lowestFreePort;
