/** Open-loop load at a fixed rate; latency counts from the scheduled start, so stalls are not hidden. */
import { Histogram } from '../histogram.ts';
import { Connection } from './connection.ts';
import { Errors, type Measured, type RunResult, Window } from './window.ts';

export interface OpenSettings extends Measured {
  readonly port: number;
  readonly request: Buffer;
  readonly perSecond: number;
  readonly warmSeconds: number;
  readonly windowSeconds: number;
}

const maximumConnections = 1024;
const drainMilliseconds = 5000;
/** Timers fire up to this late; the rest is spent in event loop ticks, which keep reading responses. */
const timerSlack = 2;

export const runOpen = (settings: OpenSettings): Promise<RunResult> =>
  new Promise((resolve) => {
    const window = new Window(settings);
    const errors = new Errors();
    const latency = new Histogram();
    const idle: Connection[] = [];
    /** Scheduled start times of requests without a free connection. */
    const waiting: number[] = [];
    const total = Math.round((settings.warmSeconds + settings.windowSeconds) * settings.perSecond);
    const warm = Math.round(settings.warmSeconds * settings.perSecond);
    const startedAt = performance.now();
    let connections = 0;
    let started = 0;
    let answered = 0;
    let counted = 0;

    const intended = (index: number): number => startedAt + (index * 1000) / settings.perSecond;

    const ask = (connection: Connection, meant: number): void =>
      connection.send(settings.request, {
        data: () => true,
        end: (now, status) => {
          answered += 1;
          if (status !== 200) errors.add(`status ${status}`);
          else if (meant >= intended(warm)) {
            counted += 1;
            latency.record(now - meant);
          }
          const next = waiting.shift();
          if (next !== undefined && !connection.closed) ask(connection, next);
          else if (connection.closed) connections -= 1;
          else idle.push(connection);
        },
        fail: (reason) => {
          answered += 1;
          connections -= 1;
          errors.add(reason);
        },
      });

    const start = (meant: number): void => {
      let connection = idle.pop();
      while (connection?.closed) {
        connections -= 1;
        connection = idle.pop();
      }
      if (connection === undefined && connections < maximumConnections) {
        connections += 1;
        connection = new Connection(settings.port);
      }
      if (connection === undefined) waiting.push(meant);
      else ask(connection, meant);
    };

    const finish = (): void => {
      const cost = window.close();
      for (const connection of idle) connection.leave();
      if (answered < total) errors.add(`${total - answered} unanswered`);
      resolve({
        errors: errors.byReason,
        metrics: {
          requests_per_second: counted / settings.windowSeconds,
          cpu_us_per_request: (cost.cpuMilliseconds * 1000) / counted,
          latency_p50_ms: latency.percentile(0.5),
          latency_p90_ms: latency.percentile(0.9),
          latency_p99_ms: latency.percentile(0.99),
          latency_max_ms: latency.percentile(1),
          rss_peak_mb: cost.residentPeak,
        },
      });
    };

    const turn = (): void => {
      const now = performance.now();
      while (started < total && intended(started) <= now) {
        if (started === warm) window.open();
        start(intended(started));
        started += 1;
      }
      if (started < total) {
        const ahead = intended(started) - now;
        if (ahead > timerSlack) setTimeout(turn, Math.floor(ahead - timerSlack));
        else setImmediate(turn);
      } else if (answered >= total || now > intended(total) + drainMilliseconds) finish();
      else setTimeout(turn, 1);
    };
    turn();
  });
