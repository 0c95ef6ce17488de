/** Asks the API server of the Kubernetes cluster that this process runs in, with the pod's own token. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, type Dispatcher, request } from 'undici';

export interface ClusterAddress {
  /** `https://10.0.0.1:443`. */
  readonly url: string;
  /** Folder with the pod's `token` and the cluster's `ca.crt`. */
  readonly folder: string;
}

export interface KubernetesApi {
  /** The lines of a response; each a JSON document. Errors with an `ApiFailure` for any status but 200. */
  lines(path: string, signal: AbortSignal, idleMs: number): AsyncIterable<unknown>;
  close(): Promise<void>;
}

export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const connectMs = 5000;
/** Of one object or page: an EndpointSlice has at most 1,000 endpoints. */
const longestLine = 16 * 1024 * 1024;

export const openKubernetesApi = ({ url, folder }: ClusterAddress): KubernetesApi => {
  const caFile = join(folder, 'ca.crt');
  const connect = existsSync(caFile)
    ? { ca: readFileSync(caFile, 'utf8'), timeout: connectMs }
    : { timeout: connectMs };
  const agent = new Agent({ connect });
  // Read for every request: the token is replaced about once an hour.
  const token = (): string => readFileSync(join(folder, 'token'), 'utf8').trim();

  const open = async (
    path: string,
    signal: AbortSignal,
    idleMs: number,
  ): Promise<Dispatcher.ResponseData['body']> => {
    const { statusCode, body } = await request(url + path, {
      dispatcher: agent,
      signal,
      headers: { accept: 'application/json', authorization: `Bearer ${token()}` },
      headersTimeout: 30_000,
      bodyTimeout: idleMs,
    });
    if (statusCode === 200) return body;
    await body.dump({ limit: 64 * 1024 });
    throw new ApiFailure(statusCode, `The Kubernetes API answered ${statusCode} to ${path.split('?')[0]}`);
  };

  return {
    lines: async function* (path, signal, idleMs) {
      const decoder = new TextDecoder();
      let rest = '';
      for await (const bytes of await open(path, signal, idleMs)) {
        const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
        rest = lines.pop() ?? '';
        if (rest.length > longestLine) throw new Error('The Kubernetes API sent too long a line');
        for (const line of lines) if (line.trim() !== '') yield JSON.parse(line);
      }
      if (rest.trim() !== '') yield JSON.parse(rest);
    },
    close: () => agent.destroy(),
  };
};
