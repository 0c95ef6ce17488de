/** GET and DELETE /streams/{id}: the rest of a resumable stream, and its end. */
import { from, map } from 'rxjs';
import {
  type Exchange,
  type KeyedPipeline,
  type KeyedRequest,
  noContent,
  type Reply,
} from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { compose } from '../core/compose.ts';
import { streamPrefix } from '../core/resumable.ts';
import {
  type FoundStream,
  findStream,
  readEventNumber,
  sendStream,
  streamName,
} from '../core/send-stream.ts';
import type { Step } from '../core/stage.ts';

export const getStream = ({ streams }: Ports): KeyedPipeline =>
  compose(
    checkPosition, // 400 names the parameter
    streamName(streamPrefix),
    findStream(streams, 'stream'), // 404
    sendRest, // 410
  );

export const deleteStream = ({ streams }: Ports): KeyedPipeline =>
  compose(
    streamName(streamPrefix),
    findStream(streams, 'stream'), // 404
    endStream,
  );

const checkPosition = (exchange: Exchange): Exchange => {
  readPosition(exchange);
  return exchange;
};

/** The header wins: browsers reconnect to the address that they were given first, and tell in it how far they came. */
const readPosition = (exchange: Exchange): number => {
  const last = exchange.header('last-event-id');
  if (last !== '') return readEventNumber(last, 'Last-Event-ID');
  return readEventNumber(new URLSearchParams(exchange.query).get('after') ?? '', 'after');
};

/** 204 tells browsers not to reconnect. */
const sendRest: Step<FoundStream, Reply, KeyedRequest> = (found, { exchange }) =>
  sendStream(found, exchange, readPosition(exchange), { 'x-stream-id': found.name.id }, 'no content');

const endStream: Step<FoundStream, Reply, KeyedRequest> = ({ stream }) =>
  from(stream.cancel().then(() => stream.remove())).pipe(map(() => noContent));
