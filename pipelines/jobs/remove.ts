/** DELETE /videos/{id} and /music/{id}: the id of a job in; the cancelled job, or word that a finished one is deleted, out. */
import { catchError, defer, map } from 'rxjs';
import { ApiError } from '../../src/errors.ts';
import { jsonReply, type KeyedPipeline } from '../../src/ports/exchange.ts';
import type { JobType } from '../../src/ports/jobs.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { answerJob, conflict, readJobId } from './job-response.ts';

export const jobRemove =
  (ports: Ports, type: JobType): KeyedPipeline =>
  (exchange, { subscription }) =>
    defer(() => {
      const id = readJobId(type, exchange); // 404
      return defer(() => ports.jobs.remove(type, id, subscription)).pipe(
        map((view) =>
          view === 'deleted'
            ? jsonReply({ id, object: `${type}.deleted`, deleted: true })
            : answerJob(ports, exchange, view),
        ),
        catchError((error: unknown) => {
          // 409
          throw error instanceof ApiError && error.kind === 'conflict' ? conflict(error.message) : error;
        }),
      );
    });
