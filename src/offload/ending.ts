/** Maps the end of a worker thread to the client's error, retryable only where a retry may help. */
import { type ApiError, type ErrorKind, fail } from '../errors.ts';
import type { Task } from './task.ts';
import type { EndReason, ThreadFailure } from './thread.ts';

type Ending = readonly [kind: ErrorKind, message: string];

const closed: Ending = ['unavailable', 'The service is shutting down'];

const endings: Record<Task['type'], Record<EndReason, Ending>> = {
  json: {
    timeout: ['unavailable', 'The request could not be read in time'],
    memory: ['payload_too_large', 'The request needs too much memory to be read'],
    crash: ['internal', 'The request could not be read'],
    closed,
  },
  tokens: {
    timeout: ['unavailable', 'The tokens of the request could not be counted in time'],
    memory: ['payload_too_large', 'The request needs too much memory for its tokens to be counted'],
    crash: ['internal', 'The tokens of the request could not be counted'],
    closed,
  },
  cut: {
    timeout: ['unavailable', 'The request could not be shortened in time'],
    memory: ['payload_too_large', 'The request needs too much memory to be shortened'],
    crash: ['internal', 'The request could not be shortened'],
    closed,
  },
  document: {
    timeout: ['invalid_request', 'the document takes too long to read'],
    memory: ['invalid_request', 'the document needs too much memory to read'],
    crash: ['invalid_request', 'the document cannot be read'],
    closed,
  },
  split: {
    timeout: ['unavailable', 'The text could not be split in time'],
    memory: ['payload_too_large', 'The text needs too much memory to be split'],
    crash: ['internal', 'The text could not be split'],
    closed,
  },
};

export const endingOf = (type: Task['type'], failure: ThreadFailure, heapMegabytes: number): ApiError => {
  const [kind, message] = endings[type][failure.reason];
  const limit = kind === 'payload_too_large' ? `: the limit is ${heapMegabytes} MiB` : '';
  return fail(kind, message + limit, { cause: failure });
};
