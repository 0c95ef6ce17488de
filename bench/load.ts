/** The load generator process: runs one order at a time and returns its result. */
import type { Knobs } from './knobs.ts';
import { runClosed } from './load/closed.ts';
import { runDisconnect } from './load/disconnect.ts';
import { readStats, resetStats, statsWhen } from './load/engine-stats.ts';
import { runOpen } from './load/open.ts';
import { runPaced } from './load/paced.ts';
import { type Format, requestOf, type Target } from './load/request.ts';
import { type Route, runRoute } from './load/route.ts';
import { runSlow } from './load/slow.ts';
import { runUpload } from './load/upload.ts';
import { type Extension, type RunResult, seconds } from './load/window.ts';

/** What a scenario orders from the load generator. */
export type Load =
  | (Streamed & Extension & { kind: 'closed'; clients: number; warmSeconds: number; windowSeconds: number })
  | (Streamed & { kind: 'open'; perSecond: number; warmSeconds: number; windowSeconds: number })
  | (Streamed & {
      kind: 'paced';
      streams: number;
      rampSeconds: number;
      settleSeconds: number;
      windowSeconds: number;
      stamped?: boolean;
    })
  | (Streamed & {
      kind: 'slow';
      readers: number;
      readEverySeconds: number;
      windowSeconds: number;
      maximumGrowth: number;
    })
  | { kind: 'disconnect'; clients: number }
  | (Streamed & {
      kind: 'upload';
      streams: number;
      idleSeconds: number;
      uploadBytes: number;
      uploads: number;
    })
  | (Route & { kind: 'route'; clients: number; warmSeconds: number; windowSeconds: number });

interface Streamed {
  readonly stream: boolean;
  readonly knobs: Partial<Knobs>;
  /** Default: chat. */
  readonly format?: Format;
  /** Overrides the subject's default model. */
  readonly model?: string;
  /** Besides the subject's own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Statuses that count as success; default 200. */
  readonly answered?: readonly number[];
}

export interface Order {
  readonly load: Load;
  readonly target: Target;
  /** Processes whose CPU time is measured. */
  readonly pids: readonly number[];
  readonly enginePort: number;
  readonly enginePid: number;
}

export type Outcome = { readonly result: RunResult } | { readonly failure: string };

const run = ({ load, target, pids, enginePort, enginePid }: Order): Promise<RunResult> => {
  if (load.kind === 'disconnect') return runDisconnect({ ...load, target, enginePort });
  if (load.kind === 'route') return runRoute({ ...load, target, pids, enginePid });
  const headers = { ...target.headers, ...load.headers };
  const asked = { ...target, headers, model: load.model ?? target.model };
  const request = requestOf(asked, load.format ?? 'chat', load.stream, load.knobs);
  const common = { port: target.port, pids, enginePid, request };
  switch (load.kind) {
    case 'closed':
      return runClosed({ ...load, ...common });
    case 'open':
      return runOpen({ ...load, ...common });
    case 'paced':
      return runPaced({ ...load, ...common });
    case 'slow':
      return runSlow({ ...load, ...common });
    case 'upload':
      return runUpload({ ...load, ...common, target });
  }
};

/** Nothing was measured: the CPU time is unknown, not zero. */
const withoutCost = ({ metrics, errors }: RunResult): RunResult => ({
  errors,
  metrics: Object.fromEntries(Object.entries(metrics).filter(([name]) => !/^(cpu|rss)_/.test(name))),
});

/** The engine aborts leftover streams, so that they do not count for the next subject. */
const runAlone = async (order: Order): Promise<RunResult> => {
  // Has another engine and finishes its own requests.
  if (order.load.kind === 'route') return run(order);
  const result = order.pids.length > 0 ? await run(order) : withoutCost(await run(order));
  // Thousands of streams take a while to abort.
  const seconds = order.load.kind === 'paced' ? 3 + order.load.streams / 500 : 3;
  const { running } = await statsWhen(order.enginePort, ({ running }) => running === 0, seconds);
  await quiet(order.enginePort);
  return running === 0 ? result : { ...result, errors: { ...result.errors, 'left running': running } };
};

/** More than once: some gateways retry when a response is cut. */
const quiet = async (enginePort: number): Promise<void> => {
  for (let attempt = 0; attempt < 10; attempt += 1) {
    await resetStats(enginePort);
    await seconds(0.1);
    if ((await readStats(enginePort)).running === 0) return;
  }
};

process.on('message', (order: Order) => {
  const answer = (outcome: Outcome): unknown => process.send?.(outcome);
  runAlone(order).then(
    (result) => answer({ result }),
    (error: unknown) => answer({ failure: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
