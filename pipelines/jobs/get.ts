/** GET /videos/{id} and /music/{id}: the id of a job in; its record out. */
import { defer, map } from 'rxjs';
import type { KeyedPipeline } from '../../src/ports/exchange.ts';
import type { JobType } from '../../src/ports/jobs.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { answerJob, readJobId } from './job-response.ts';

export const jobGet =
  (ports: Ports, type: JobType): KeyedPipeline =>
  (exchange, { subscription }) =>
    // 404
    defer(() => ports.jobs.get(type, readJobId(type, exchange), subscription)).pipe(
      map((view) => answerJob(ports, exchange, view)),
    );
