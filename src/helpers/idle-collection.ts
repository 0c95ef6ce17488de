/** Collects garbage when the process has become idle, in place of V8's memory reducer. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The share of one core below which a process is idle. */
const idleShare = 0.05;
/** After the first idle interval V8 still sizes the young generation for the load before. */
const idleIntervals = 2;

/**
 * The memory reducer drops the maps of objects of which none is alive, and nearly all optimized code with them. Other
 * collections keep both (`--retain-maps-for-n-gc`). V8 starts one, incrementally, when a young collection finds the heap
 * near its limit.
 */
export const collectWhenIdle = (intervalMs = 5_000): void => {
  const collectYoung = exposedCollector();
  let used = process.cpuUsage();
  let intervals = 0;
  setInterval(() => {
    const { user, system } = process.cpuUsage(used);
    used = process.cpuUsage();
    const isIdle = (user + system) / 1000 < intervalMs * idleShare;
    intervals = isIdle ? intervals + 1 : 0;
    if (intervals !== idleIntervals) return;
    // Percent of the way from the heap's size after the last collection to its limit.
    setFlagsFromString('--incremental-marking-hard-trigger=1');
    collectYoung({ type: 'minor' });
    setFlagsFromString('--incremental-marking-hard-trigger=0');
  }, intervalMs).unref();
};

/** Only contexts that are created while the flag is set have the function. */
const exposedCollector = (): ((options: { readonly type: 'minor' }) => void) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  return collect;
};
