/** GET and DELETE of jobs, one or a page of them: the same for videos and music. */
import { from, map } from 'rxjs';
import { ApiError, fail } from '../../src/errors.ts';
import { jsonText } from '../../src/helpers/json-text.ts';
import { type JobJson, renderRecord } from '../../src/jobs/render-record.ts';
import {
  type Exchange,
  jsonTextReply,
  type KeyedPipeline,
  type KeyedRequest,
  type WholeReply,
} from '../../src/ports/exchange.ts';
import type { JobPage, Jobs, JobType, JobView } from '../../src/ports/jobs.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { invalid } from '../core/checks.ts';
import { compose } from '../core/compose.ts';
import { listJson, readLimit } from '../core/page.ts';
import type { Step } from '../core/stage.ts';

export const jobGet = (ports: Ports, type: JobType): KeyedPipeline =>
  compose(
    readJobId(type), // 404
    findJob(ports.jobs, type), // 404
    replyJob(ports),
  );

export const jobList = (ports: Ports, type: JobType): KeyedPipeline =>
  compose(
    readPage, // 400
    replyPage(ports, type),
  );

export const jobRemove = (ports: Ports, type: JobType): KeyedPipeline =>
  compose(
    readJobId(type), // 404
    removeJob(ports.jobs, type), // 404 409
    replyRemoved(ports, type),
  );

const ids: Readonly<Record<JobType, RegExp>> = {
  video: /^video_[0-9a-f]{24}$/,
  music: /^music_[0-9a-f]{24}$/,
};

/** What cannot be the id of a job is no job's. */
export const readJobId =
  (type: JobType) =>
  ({ params: { id = '' } }: Pick<Exchange, 'params'>): string => {
    if (ids[type].test(id)) return id;
    throw fail('not_found', `There is no ${type} job ${id.slice(0, 100)}`);
  };

const findJob =
  (jobs: Jobs, type: JobType): Step<string, JobView, KeyedRequest> =>
  (id, { caller }) =>
    from(jobs.get(type, id, caller.subscription));

const removeJob =
  (jobs: Jobs, type: JobType): Step<string, JobView | 'deleted', KeyedRequest> =>
  (id, { caller }) =>
    from(jobs.remove(type, id, caller.subscription).catch(forbidRetry));

const forbidRetry = (error: unknown): never => {
  throw error instanceof ApiError && error.kind === 'conflict' ? conflict(error.message) : error;
};

/** Clients retry by themselves after a 409, and could delete what they meant to cancel. */
export const conflict = (message: string): ApiError => fail('conflict', message);

const readPage = (exchange: Pick<Exchange, 'query'>): JobPage => {
  const query = new URLSearchParams(exchange.query);
  const limit = readLimit(query);
  const order = query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc') throw invalid('order must be one of "asc", "desc"');
  const [after, before] = [query.get('after'), query.get('before')];
  return { limit, order, ...(after === null ? {} : { after }), ...(before === null ? {} : { before }) };
};

type Addressed = Pick<Ports, 'publicUrl'>;

export const replyJob =
  (ports: Addressed, status = 200): Step<JobView, WholeReply, KeyedRequest> =>
  (view, { exchange }) =>
    wideReply(recordFor(ports, exchange, view), status);

const replyPage =
  (ports: Pick<Ports, 'jobs' | 'publicUrl'>, type: JobType): Step<JobPage, WholeReply, KeyedRequest> =>
  (page, { exchange, caller }) =>
    from(ports.jobs.list(type, caller.subscription, { ...page, limit: page.limit + 1 })).pipe(
      map((views) => views.map((view) => recordFor(ports, exchange, view))),
      map((records) => wideReply(listJson(records, page))),
    );

const replyRemoved =
  (ports: Addressed, type: JobType): Step<JobView | 'deleted', WholeReply, KeyedRequest> =>
  (removed, { exchange }) =>
    wideReply(
      removed === 'deleted'
        ? { id: exchange.params.id, object: `${type}.deleted`, deleted: true }
        : recordFor(ports, exchange, removed),
    );

const wideReply = (value: unknown, status = 200): WholeReply => ({
  ...jsonTextReply(jsonText(value)),
  status,
});

/** OpenAI's clients poll while the status is `queued`, and read a failure from an object. */
const openAiClient = /^(?:Async)?(?:Azure)?OpenAI\//;

const recordFor = ({ publicUrl }: Addressed, exchange: Exchange, view: JobView): JobJson =>
  renderRecord(view, publicUrl(), openAiClient.test(exchange.header('user-agent')) ? 'openai' : 'plain');
