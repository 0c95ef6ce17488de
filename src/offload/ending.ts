/** Maps the end of a worker thread to the client's error, retryable only where a retry may help. */
import { type ApiError, type ErrorKind, fail } from '../errors.ts';
import type { EndReason, WorkerFailure } from './pool-worker.ts';
import type { Task } from './task.ts';

type Ending = readonly [kind: ErrorKind, message: string];

const closed: Ending = ['unavailable', 'The service is shutting down'];

/** `What` could not be `done`. */
const undone = (what: string, done: string): Record<EndReason, Ending> => ({
  timeout: ['unavailable', `${what} could not be ${done} in time`],
  memory: ['payload_too_large', `${what} needs too much memory to be ${done}`],
  crash: ['internal', `${what} could not be ${done}`],
  closed,
});

const endings: Record<Task['type'], Record<EndReason, Ending>> = {
  json: undone('The request', 'read'),
  tokens: {
    ...undone('The tokens of the request', 'counted'),
    memory: ['payload_too_large', 'The request needs too much memory for its tokens to be counted'],
  },
  cut: undone('The request', 'shortened'),
  document: {
    timeout: ['invalid_request', 'the document takes too long to read'],
    memory: ['invalid_request', 'the document needs too much memory to read'],
    crash: ['invalid_request', 'the document cannot be read'],
    closed,
  },
  encoding: undone('The text', 'read'),
  split: undone('The text', 'split'),
};

export const endingOf = (type: Task['type'], failure: WorkerFailure, heapMegabytes: number): ApiError => {
  const [kind, message] = endings[type][failure.reason];
  const limit = kind === 'payload_too_large' ? `: the limit is ${heapMegabytes} MiB` : '';
  return fail(kind, message + limit, { cause: failure });
};
