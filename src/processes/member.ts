/** Connects a gateway process to the supervisor that started it. */
import type { AdminApi } from '../admin/route.ts';
import type { DrainOptions } from '../http/listen.ts';
import type { MetricFamily } from '../metrics/exposition.ts';
import { type FromChild, type Greeting, heartbeatMs, type ToChild } from './messages.ts';

export interface Member {
  reload(): void;
  families(): readonly MetricFamily[];
  unready(): Promise<readonly string[]>;
  readonly adminApi: AdminApi;
}

// Fails only when the supervisor is gone; `disconnect` reports that.
const send = (message: FromChild): void => void process.send?.(message, undefined, {}, () => undefined);

/** From the start of the process to its end: a silent one is taken for hung. */
export const beginHeartbeat = (): void => {
  setInterval(() => send({ type: 'heartbeat' }), heartbeatMs).unref();
};

/** Resolves when the process is to drain: the supervisor said so, or is gone. */
export const joinGroup = (gateway: Member, greeting: Greeting): Promise<DrainOptions> => {
  const drain = new Promise<DrainOptions>((resolve) => {
    process.once('disconnect', () => resolve({ handOver: false }));
    process.on('message', (message: ToChild) => {
      if (message.type === 'drain') resolve({ handOver: message.handOver });
      else if (message.type === 'reload') gateway.reload();
      else if (message.type === 'metrics')
        send({ ...message, type: 'metrics', families: gateway.families() });
      else if (message.type === 'admin')
        void gateway
          .adminApi(message.request)
          .then((reply) => send({ type: 'admin', number: message.number, reply }));
      else
        void gateway
          .unready()
          .then((unready) => send({ type: 'readiness', number: message.number, unready }));
    });
  });
  // A terminal signals every process; the supervisor decides what becomes of its children.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  send({ type: 'ready', greeting });
  return drain;
};
