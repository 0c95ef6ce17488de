/** What a case of the framing suite is, and the requests that cases are written with. */

/**
 * `accepts`: every request of `served` gets its response; where the last one should be refused, that one gets one too.
 * `refuses`: an error in place of a response, and a close; or only the close, if nothing else was to come.
 * `drops`: a close in place of a response that was to come. `misreads`: a response to a request that nobody sent.
 * `waits`: nothing, for as long as one looks.
 */
export type Verdict = 'accepts' | 'refuses' | 'drops' | 'misreads' | 'waits';

/** uWebSockets.js 20.41 is what Node 20 loads, 20.64 what later versions do. */
export type Server = 'uws 20.41' | 'uws 20.64' | 'node';

export interface Case {
  readonly name: string;
  /** Written one after the other, each in a segment of its own; characters are bytes. */
  readonly segments: readonly string[];
  /** What RFC 9112 asks for; `either` where it leaves the choice. */
  readonly rfc: 'accepts' | 'refuses' | 'either';
  /** The requests that are read where all are accepted, or before the one that is refused. */
  readonly served: readonly string[];
  /** What a server is known to do instead. */
  readonly known: { readonly [name in Server]?: Verdict };
}

export const get = (path = '/v1/echo', ...lines: string[]): string =>
  `GET ${path} HTTP/1.1\r\nHost: test\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;

export const post = (lines: readonly string[], body = ''): string =>
  `POST /v1/echo HTTP/1.1\r\nHost: test\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n${body}`;

export const chunked = (body: string): string => post(['Transfer-Encoding: chunked'], body);

export const smuggledPath = '/v1/smuggled';
/** What an attacker hides behind a request whose end two servers see in different places. */
export const smuggled = get(smuggledPath);

/** As the echo route words it. */
export const got = 'GET /v1/echo';
export const posted = (body: string): string => `POST /v1/echo ${body}`;

type Sent = string | readonly string[];
const make = (
  rfc: Case['rfc'],
  name: string,
  sent: Sent,
  served: readonly string[],
  known: Case['known'] = {},
): Case => ({ name, rfc, segments: typeof sent === 'string' ? [sent] : sent, served, known });

export const accepts = (name: string, sent: Sent, served: readonly string[], known?: Case['known']): Case =>
  make('accepts', name, sent, served, known);

export const refuses = (
  name: string,
  sent: Sent,
  known?: Case['known'],
  served: readonly string[] = [],
): Case => make('refuses', name, sent, served, known);

export const either = (name: string, sent: Sent, served: readonly string[], known?: Case['known']): Case =>
  make('either', name, sent, served, known);

/** What both versions of uWebSockets.js do. */
export const uws = (verdict: Verdict): Case['known'] => ({ 'uws 20.41': verdict, 'uws 20.64': verdict });
/** What only the newer one does. */
export const newUws = (verdict: Verdict): Case['known'] => ({ 'uws 20.64': verdict });
/** What only the older one does. */
export const oldUws = (verdict: Verdict): Case['known'] => ({ 'uws 20.41': verdict });
