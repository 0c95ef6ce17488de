/** Turns a request for a page into its response: negotiates the encoding, compares the ETag, adds the headers. */
import { type Encoding, encodings, type PageFiles } from './files.ts';

/** Header values; empty where absent. */
export interface PageRequest {
  readonly accept: string;
  readonly acceptEncoding: string;
  readonly ifNoneMatch: string;
}

export interface PageResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const nothing = new Uint8Array();

/** Whether a person looks: clients of the API do not ask for HTML. */
export const wantsPage = ({ accept }: Pick<PageRequest, 'accept'>): boolean => /\btext\/html\b/i.test(accept);

/** Undefined where there is no such file. `policy`: of a document. */
export const respondWith = async (
  files: PageFiles,
  name: string,
  { acceptEncoding, ifNoneMatch }: PageRequest,
  policy?: string,
): Promise<PageResponse | undefined> => {
  const file = files.find(name);
  if (file === undefined) return undefined;
  const encoding = chooseEncoding(acceptEncoding, (each) => file.sizes[each] !== undefined);
  const etag = `"${file.hash}${encoding === 'identity' ? '' : `-${encoding}`}"`;
  const headers = {
    etag,
    vary: policy === undefined ? 'accept-encoding' : 'accept, accept-encoding',
    // The name of an asset changes with its content.
    'cache-control': name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    ...(policy === undefined ? {} : { 'content-security-policy': policy }),
  };
  if (isKnown(ifNoneMatch, etag)) return { status: 304, headers, body: nothing };
  return {
    status: 200,
    headers: {
      'content-type': file.type,
      ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
      ...headers,
    },
    body: await files.read(name, encoding),
  };
};

export const redirectTo = (location: string): PageResponse => ({
  status: 302,
  headers: { location, 'cache-control': 'no-cache' },
  body: nothing,
});

/** The smallest that the client takes; a weight of 0 means that it does not. */
const chooseEncoding = (accepted: string, exists: (encoding: Encoding) => boolean): Encoding => {
  const taken = new Map(
    accepted.split(',').map((part) => {
      const [coding = '', weight = ''] = part.split(';');
      return [coding.trim().toLowerCase(), !/^\s*q\s*=\s*0(\.0*)?\s*$/i.test(weight)] as const;
    }),
  );
  return (
    encodings.find(
      (encoding) => exists(encoding) && encoding !== 'identity' && (taken.get(encoding) ?? taken.get('*')),
    ) ?? 'identity'
  );
};

const isKnown = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch.split(',').some((each) => {
    const tag = each.trim().replace(/^W\//, '');
    return tag === '*' || tag === etag;
  });
