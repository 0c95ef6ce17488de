/** A job that has ended in; the event about it kept for delivery out, if its request asked to be told. */
import type { JobView } from '../ports/jobs.ts';
import type { Deliveries } from './deliveries.ts';

/** The job as a plain HTTP client reads it. */
export type RecordOf = (view: JobView, publicUrl: string) => Readonly<Record<string, unknown>>;

export interface TellParts {
  readonly deliveries: Pick<Deliveries, 'add'>;
  readonly recordOf: RecordOf;
  /** Where links start when the job does not say. */
  readonly publicUrl: () => string;
  /** A delivery waits. */
  readonly kept: () => void;
}

/** Body and id are made of the job alone: telling twice keeps one delivery. */
export const createTell =
  ({ deliveries, recordOf, publicUrl, kept }: TellParts) =>
  async (view: JobView, ending: string): Promise<void> => {
    const { job } = view;
    if (job.callback_url === null) return;
    const type = `${job.type}.generation.${ending}`;
    const added = await deliveries.add({
      id: `${job.id}-${ending}`,
      job: job.id,
      type,
      subscription: job.subscription,
      url: job.callback_url,
      body: JSON.stringify({
        type,
        created_at: Math.floor((job.moved ?? job.created) / 1000),
        data: recordOf(view, job.public_url || publicUrl()),
      }),
    });
    if (added) kept();
  };
