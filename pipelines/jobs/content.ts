/** GET /videos/{id}/content, /music/{id}/content and /blobs/{name}: stored files, whole or a range. */
import { from, map } from 'rxjs';
import type { JobOutput, JobRecord } from '../../schemas/jobs.ts';
import { fail } from '../../src/errors.ts';
import type { Exchange, KeyedPipeline, KeyedRequest, Pipeline } from '../../src/ports/exchange.ts';
import type { Jobs, JobType } from '../../src/ports/jobs.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { type BlobLinks, openBlobLinks } from '../../src/signatures/blob-links.ts';
import { invalid } from '../core/checks.ts';
import { compose } from '../core/compose.ts';
import type { Step } from '../core/stage.ts';
import { conflict, readJobId } from './jobs.ts';
import { type NamedBlob, sendBlob } from './send-blob.ts';

export const jobContent = (ports: Ports, type: JobType): KeyedPipeline =>
  compose(
    readOutput(type), // 404, 400 names the parameter
    findOutput(ports.jobs, type), // 404 409
    sendBlob(ports.blobs), // 404 416
  );

export const blobLink = (ports: Ports): Pipeline =>
  compose(
    checkLink(openBlobLinks(ports.state)), // 404
    sendBlob(ports.blobs), // 404 416
  );

/** An output of a job. */
export interface OutputName {
  readonly id: string;
  readonly index: number;
}

export const readOutput =
  (type: JobType) =>
  (exchange: Exchange): OutputName => {
    const query = new URLSearchParams(exchange.query);
    const output = { id: readJobId(type)(exchange), index: readIndex(query) };
    if (type === 'video') checkVariant(query);
    return output;
  };

const readIndex = (query: URLSearchParams): number => {
  const text = query.get('index') ?? '0';
  if (!/^\d{1,9}$/.test(text)) throw invalid('index must be an integer of at least 0');
  return Number(text);
};

const checkVariant = (query: URLSearchParams): void => {
  const variant = query.get('variant') ?? 'video';
  if (variant !== 'video') throw invalid('variant must be "video"');
};

const findOutput =
  (jobs: Jobs, type: JobType): Step<OutputName, NamedBlob, KeyedRequest> =>
  ({ id, index }, { caller }) =>
    from(jobs.get(type, id, caller.subscription)).pipe(
      map(({ job }) => ({ name: outputOf(job, index).blob, cacheControl: 'private, no-store' })),
    );

const outputOf = ({ id, status, outputs }: JobRecord, index: number): JobOutput => {
  if (status === 'pending' || status === 'in_progress')
    throw conflict(`The job ${id} is not finished: it is ${status}`);
  const output = status === 'completed' ? outputs.find((one) => one.index === index) : undefined;
  if (output !== undefined) return output;
  throw fail(
    'not_found',
    status === 'completed'
      ? `The job ${id} has no output ${index}`
      : `The job ${id} has no output: it is ${status}`,
  );
};

/** Our signature, and not expired. */
const checkLink =
  (links: BlobLinks) =>
  ({ params: { name = '' }, query: text }: Exchange) => {
    const query = new URLSearchParams(text);
    const expires = readSeconds(query.get('expires'));
    return from(links.isOurs(name, expires, query.get('signature') ?? '')).pipe(
      map((ours): NamedBlob => {
        const left = expires - Date.now() / 1000;
        // The same response to both, so that existing names cannot be probed.
        if (!ours || left <= 0) throw fail('not_found', 'This link is not valid, or its time is over');
        return { name, cacheControl: `private, max-age=${Math.floor(left)}` };
      }),
    );
  };

const readSeconds = (text: string | null): number =>
  text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0;
