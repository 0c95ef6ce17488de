/** A job, or the id of one, in; its record in the client's own words, or a checked id, out. */
import { fail } from '../../src/errors.ts';
import { type JobJson, renderRecord } from '../../src/jobs/render-record.ts';
import { type Exchange, jsonReply, type WholeReply } from '../../src/ports/exchange.ts';
import type { JobType, JobView } from '../../src/ports/jobs.ts';
import type { Ports } from '../../src/ports/ports.ts';

type Addressed = Pick<Ports, 'publicUrl'>;

/** Its own clients wait on the word `queued` only, and read a failure from an object. */
const openAiClient = /^(?:Async)?(?:Azure)?OpenAI\//;

export const recordFor = ({ publicUrl }: Addressed, exchange: Exchange, view: JobView): JobJson =>
  renderRecord(view, publicUrl(), openAiClient.test(exchange.header('user-agent')) ? 'openai' : 'plain');

export const answerJob = (ports: Addressed, exchange: Exchange, view: JobView, status = 200): WholeReply =>
  jsonReply(recordFor(ports, exchange, view), status);

const ids: Readonly<Record<JobType, RegExp>> = {
  video: /^video_[0-9a-f]{24}$/,
  music: /^music_[0-9a-f]{24}$/,
};

/** What cannot be the id of a job is no job's. */
export const readJobId = (type: JobType, { params: { id = '' } }: Exchange): string => {
  if (ids[type].test(id)) return id;
  throw fail('not_found', `There is no ${type} job ${id.slice(0, 100)}`);
};

/** The number of an output. */
export const readIndex = (query: URLSearchParams): number => {
  const text = query.get('index') ?? '0';
  if (!/^\d{1,9}$/.test(text)) throw fail('invalid_request', 'index must be an integer of at least 0');
  return Number(text);
};

/** Clients try again by themselves after a 409, and could delete what they meant to cancel. */
export const conflict = (message: string) =>
  fail('conflict', message, { headers: { 'x-should-retry': 'false' } });
