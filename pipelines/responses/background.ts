/** GET and DELETE /responses/{id}, POST /responses/{id}/cancel: responses whose stream is kept. */
import { from, map } from 'rxjs';
import type { ResponseDeleted } from '../../schemas/responses/response.ts';
import type { Exchange, KeyedPipeline, KeyedRequest, Reply, WholeReply } from '../../src/ports/exchange.ts';
import { jsonReply } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { KeptStream, Streams } from '../../src/ports/streams.ts';
import { invalid } from '../core/checks.ts';
import { compose } from '../core/compose.ts';
import { dataOf } from '../core/last-events.ts';
import {
  type FoundStream,
  findStream,
  notFound,
  readEventNumber,
  sendStream,
  streamName,
} from '../core/send-stream.ts';
import type { Step } from '../core/stage.ts';

export const responsePrefix = 'resp_';
const what = 'response';

export const getResponse = ({ streams }: Ports): KeyedPipeline =>
  compose(
    checkQuery, // 400 names the parameter
    streamName(responsePrefix),
    findStream(streams, what), // 404
    onlyResponses, // 404
    sendResponse, // 410
  );

export const cancelResponse = ({ streams }: Ports): KeyedPipeline =>
  compose(
    streamName(responsePrefix),
    findStream(streams, what), // 404
    onlyResponses, // 404
    cancel(streams),
  );

export const deleteResponse = ({ streams }: Ports): KeyedPipeline =>
  compose(
    streamName(responsePrefix),
    findStream(streams, what), // 404
    onlyResponses, // 404
    forget,
  );

interface Query {
  readonly stream: boolean;
  readonly after: number;
}

const readQuery = ({ query }: Exchange): Query => {
  const given = new URLSearchParams(query);
  const stream = given.get('stream') ?? 'false';
  if (stream !== 'true' && stream !== 'false') throw invalid('stream must be "true" or "false"');
  const after = readEventNumber(given.get('starting_after') ?? '', 'starting_after');
  if (after >= 0 && stream === 'false') throw invalid('starting_after needs stream to be true');
  return { stream: stream === 'true', after };
};

const checkQuery = (exchange: Exchange): Exchange => {
  readQuery(exchange);
  return exchange;
};

/** Events are numbered as their `sequence_number` says. */
const onlyResponses: Step<FoundStream, FoundStream, unknown> = (found) => {
  if (dataOf(found.stream.opening).response === undefined) throw notFound(found.name, what);
  return found;
};

const sendResponse: Step<FoundStream, Reply, KeyedRequest> = (found, { exchange }) => {
  const { stream, after } = readQuery(exchange);
  return stream ? sendStream(found, exchange, after, {}, 'empty stream') : from(current(found.stream));
};

/** Of one that is running, what it began with. */
const current = async (stream: KeptStream): Promise<WholeReply> =>
  responseReply(stream.ended ? await stream.closing() : stream.opening);

/** The response that an event carries. */
export const responseReply = (event: string): WholeReply => jsonReply(dataOf(event).response);

/** One that has ended stays as it is. */
const cancel =
  (streams: Streams): Step<FoundStream, Reply, KeyedRequest> =>
  ({ name, stream }, { caller }) =>
    from(
      stream
        .cancel()
        .then(() => streams.find(name.key ?? '', caller.subscription))
        .then((ended) => current(ended ?? stream)),
    ).pipe(map((reply): Reply => reply));

const forget: Step<FoundStream, Reply, KeyedRequest> = ({ name: { id }, stream }) => {
  const deleted: ResponseDeleted = { id, object: 'response', deleted: true };
  return from(stream.cancel().then(() => stream.remove())).pipe(map(() => jsonReply(deleted)));
};
