/** Checks shared by all kinds: a bad request is refused as such, and a client that leaves is noticed. */

import type { WireRequest } from '../engines/wire.ts';
import { formBody } from '../engines/wires/shared/multipart.ts';
import { attempt, type Finding, Note } from './finding.ts';
import type { Target } from './target.ts';

/** The request without anything but the model: every required field is missing. */
export const checkBadRequest = (target: Target, { path, contentType }: WireRequest): Promise<Finding> =>
  attempt('bad request', async () => {
    const model = target.model.served_as;
    const isForm = contentType?.startsWith('multipart/') === true;
    const sent = isForm ? formBody({ model }, []) : { body: JSON.stringify({ model }) };
    const { status, body } = await target.server.send('POST', path, sent);
    const { status: read, message } = target.wire.readError(status, body.toString('utf8'));
    if (status < 300)
      throw new Error(`A request without its required fields is answered ${status}; it must be a 400`);
    if (read !== 400 && read !== 413 && read !== 422)
      throw new Error(
        `A request without its required fields is answered ${status}; it must be a 400, or the gateway takes it for a failure of the server`,
      );
    if (message === undefined)
      throw new Note(`${status} without a message in error.message: clients are not told what is wrong`);
    return `${status}, ${message}`;
  });

/** Milliseconds for a server to notice. */
const patience = 5000;

export const checkDisconnect = (target: Target, request: WireRequest): Promise<Finding> =>
  attempt('disconnect', async () => {
    const { noticed, complete, bytesAfter } = await target.server.leave(request, patience);
    if (noticed === undefined)
      throw new Error(
        `${patience / 1000} s after the client disconnected the server still works on the response (${bytesAfter} bytes more)`,
      );
    if (complete)
      throw new Note('The response was complete too soon to tell whether a disconnect is noticed');
    return `the response was stopped within ${Math.max(1, noticed)} ms`;
  });
