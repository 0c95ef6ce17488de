/** Clients that disconnect early: measures whether and how soon the engine call is aborted. */
import { Histogram } from '../histogram.ts';
import { Connection } from './connection.ts';
import { resetStats, statsWhen } from './engine-stats.ts';
import { chatRequest, type Target } from './request.ts';
import { microseconds } from './stamp.ts';
import { Errors, type RunResult, seconds } from './window.ts';

export interface DisconnectSettings {
  readonly target: Target;
  readonly enginePort: number;
  readonly clients: number;
}

const eventsBeforeLeaving = 4;
const neverMilliseconds = 30_000;

/** Of five, three disconnect in a stream, one before its first token, one before a response; every other one by reset. */
export const runDisconnect = async (settings: DisconnectSettings): Promise<RunResult> => {
  const { target, enginePort, clients } = settings;
  const errors = new Errors();
  const leftAt = new Map<number, number>();
  await statsWhen(enginePort, (stats) => stats.running === 0, 5);
  await resetStats(enginePort);

  const leave = (id: number, connection: Connection): void => {
    leftAt.set(id, microseconds());
    connection.leave(id % 2 === 0 ? 'close' : 'reset');
  };

  /** Clients whose response never starts; they disconnect once the engine has received all their requests. */
  const waiting = new Map<number, Connection>();

  const start = (id: number): void => {
    const kind = id % 5;
    const waits = kind >= 3;
    const knobs = waits ? { id, first: neverMilliseconds } : { id, tokens: 10_000, rate: 20 };
    const connection = new Connection(target.port);
    if (waits) waiting.set(id, connection);
    let events = 0;
    connection.send(chatRequest(target, kind !== 4, knobs), {
      data: (_now, _bytes, more) => {
        events += more;
        if (!waits && events >= eventsBeforeLeaving) leave(id, connection);
        return true;
      },
      end: (_now, status) => errors.add(`status ${status}`),
      fail: (reason) => errors.add(reason),
    });
  };

  for (let id = 1; id <= clients; id += 1) {
    start(id);
    await seconds(0.01);
  }
  await statsWhen(enginePort, ({ started }) => started >= clients, 5);
  for (const [id, connection] of waiting) {
    if (!connection.closed) leave(id, connection);
    await seconds(0.005);
  }
  const stats = await statsWhen(enginePort, (seen) => seen.aborted >= clients, 5);
  const delay = new Histogram();
  for (const { id, at } of stats.aborts) {
    const left = leftAt.get(id);
    if (left !== undefined) delay.record((at - left) / 1000);
  }
  return {
    errors: errors.byReason,
    metrics: {
      clients,
      seen_by_engine: delay.count,
      abort_p50_ms: delay.percentile(0.5),
      abort_p99_ms: delay.percentile(0.99),
      abort_max_ms: delay.percentile(1),
    },
  };
};
