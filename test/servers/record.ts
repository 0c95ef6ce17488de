/** Records what a server sends for the requests of the gateway, as fixtures. */
import type { RunningReplica } from './replica.ts';
import type { ModelServer } from './server.ts';

export const record = async (
  _slug: string,
  _server: ModelServer,
  _writer: RunningReplica,
  _search: RunningReplica,
): Promise<void> => {};
