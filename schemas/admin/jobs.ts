/** Rendering jobs in the admin API: without prompts and outputs. */
import Type, { type Static } from 'typebox';
import { JobRecord } from '../jobs.ts';
import { listFields, Nullable, Titled } from '../shapes.ts';
import { ofSubscription, PageQuery } from './page.ts';

const { id, type, subscription, key, request_id, model, status } = JobRecord.properties;
const { created, started, ended, attempts, cost, error, error_code } = JobRecord.properties;

export const AdminJob = Titled('AdminJob', {
  object: Type.Literal('job'),
  ...{ id, type, subscription, key, request_id, model, status },
  ...{ created, started, ended, attempts, cost, error, error_code },
  progress: Type.Integer({ minimum: 0, maximum: 100, description: 'Percent' }),
  queue_position: Nullable(
    Type.Integer({ minimum: 0, description: 'In the queue of its model; null: it does not wait' }),
  ),
});
export type AdminJob = Static<typeof AdminJob>;
export const AdminJobList = Titled('AdminJobList', listFields(AdminJob));

export const JobsQuery = PageQuery({
  ...ofSubscription,
  type: Type.Optional(Type.Enum(['video', 'music'], { description: '`video`' })),
});
