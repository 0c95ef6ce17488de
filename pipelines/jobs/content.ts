/** GET /videos/{id}/content and /music/{id}/content: the id of a finished job and the number of an output in; its bytes out, all or a range. */
import { defer, switchMap } from 'rxjs';
import type { JobOutput, JobRecord } from '../../schemas/jobs.ts';
import { fail } from '../../src/errors.ts';
import type { KeyedPipeline } from '../../src/ports/exchange.ts';
import type { JobType } from '../../src/ports/jobs.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { conflict, readIndex, readJobId } from './job-response.ts';
import { sendBlob } from './send-blob.ts';

export const jobContent =
  (ports: Ports, type: JobType): KeyedPipeline =>
  (exchange, { subscription }) =>
    defer(() => {
      const id = readJobId(type, exchange); // 404
      const query = new URLSearchParams(exchange.query);
      const index = readIndex(query); // 400
      if (type === 'video') checkVariant(query); // 400
      return defer(() => ports.jobs.get(type, id, subscription)).pipe(
        // 404 409
        switchMap(({ job }) =>
          sendBlob(ports.blobs, exchange, outputOf(job, index).blob, {
            'cache-control': 'private, no-store',
          }),
        ),
      );
    });

const checkVariant = (query: URLSearchParams): void => {
  const variant = query.get('variant') ?? 'video';
  if (variant !== 'video') throw fail('invalid_request', 'variant must be "video"');
};

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
