/** Sends seeded requests to all routes of a gateway and reports wrong responses. */
import { type Dispatcher, Pool } from 'undici';
import { type OpenApi, operationsOf } from './document.ts';
import { type PlainRequest, prepareRecords, remember } from './prepare.ts';
import { Records } from './records.ts';
import { curlLine, makeRequest, plainRequest, type Setting } from './requests.ts';
import { type Answer, createJudge } from './verdict.ts';

export interface FuzzOptions {
  /** Base address, ending in `/v1`. */
  readonly url: string;
  readonly key: string;
  readonly seed: number;
  readonly requests: number;
  /** Only this one of them. */
  readonly only?: number | undefined;
  readonly concurrency: number;
  /** Milliseconds any answer may take. */
  readonly patience: number;
  /** The run ends after so many bad answers. */
  readonly maxFindings: number;
  /** After each request. */
  readonly onDone?: () => void;
}

export interface Finding {
  readonly number: number;
  readonly operation: string;
  readonly status: number | undefined;
  readonly problems: readonly string[];
  readonly curl: string;
}

export interface FuzzOutcome {
  readonly findings: readonly Finding[];
  /** Operation id → status → answers. */
  readonly counts: ReadonlyMap<string, ReadonlyMap<number, number>>;
  /** The longest that an answer took, in milliseconds. */
  readonly slowest: { readonly operation: string; readonly milliseconds: number };
}

/** Milliseconds after which a stream of a rendering song is aborted. */
const waiting: Readonly<Record<string, number>> = { getMusicByIdStream: 2_000 };

export const runFuzz = async (options: FuzzOptions): Promise<FuzzOutcome> => {
  const { url, key, seed, concurrency, patience } = options;
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections: concurrency });
  const send = async (request: PlainRequest, longest = patience): Promise<Answer> => {
    const { method, path, headers, body } = request;
    const response = await pool.request({
      method: method as Dispatcher.HttpMethod,
      path: pathname + path,
      headers,
      body: body ?? null,
      signal: AbortSignal.timeout(longest),
    });
    const bytes = Buffer.from(await response.body.arrayBuffer());
    return { status: response.statusCode, headers: response.headers, body: bytes };
  };

  try {
    const text = await send({ method: 'GET', path: '/openapi.json', headers: {}, body: undefined });
    const document = JSON.parse(text.body.toString()) as OpenApi;
    const operations = operationsOf(document);
    const setting: Setting = { document, key, records: new Records() };
    await prepareRecords(key, setting.records, send);

    const judge = createJudge(document);
    const findings: Finding[] = [];
    const counts = new Map<string, Map<number, number>>(operations.map(({ id }) => [id, new Map()]));
    let slowest = { operation: '', milliseconds: 0 };
    const fuzzOne = async (number: number): Promise<void> => {
      const operation = operations[number % operations.length];
      if (operation === undefined) return;
      const isPlain = number < operations.length;
      const request = isPlain
        ? plainRequest(operation, setting)
        : makeRequest(operation, setting, seed, number);
      const found = (status: number | undefined, problems: readonly string[]): void => {
        findings.push({ number, operation: operation.id, status, problems, curl: curlLine(request, url) });
      };
      const begun = performance.now();
      try {
        const answer = await send(request, waiting[operation.id]);
        const statuses = counts.get(operation.id);
        statuses?.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        const problems = judge(request, answer);
        if (problems.length > 0) found(answer.status, problems);
        remember(operation, request.path, answer, setting.records);
      } catch (error) {
        if (waiting[operation.id] === undefined) found(undefined, [`No whole answer: ${String(error)}`]);
      }
      const milliseconds = Math.round(performance.now() - begun);
      if (milliseconds > slowest.milliseconds) slowest = { operation: operation.id, milliseconds };
      options.onDone?.();
    };

    let next = options.only ?? 0;
    // The first round runs one by one, so that later requests find its records.
    if (options.only === undefined) while (next < operations.length) await fuzzOne(next++);
    const end = options.only === undefined ? options.requests : options.only + 1;
    const work = async (): Promise<void> => {
      while (next < end && findings.length < options.maxFindings) await fuzzOne(next++);
    };
    await Promise.all(Array.from({ length: concurrency }, work));
    return { findings, counts, slowest };
  } finally {
    await pool.destroy();
  }
};
