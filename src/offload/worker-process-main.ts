/** Script of a worker process: runs its tasks on a thread, watches its own memory, and ends with the gateway. */
import { setPriority } from 'node:os';
import { WorkerFailure } from './pool-worker.ts';
import { Thread } from './thread.ts';
import type { Assignment, Report } from './worker-process.ts';

/** Strangers' files wait for the gateway's own work, not the other way round. */
const niceness = 10;

let thread: Thread | undefined;

const run = async ({ entry, heapMegabytes, ...job }: Assignment): Promise<Report> => {
  thread ??= new Thread({ entry: new URL(entry), heapMegabytes, onEnd: () => undefined });
  try {
    return { outcome: await thread.run({ ...job, transfer: [] }) };
  } catch (reason) {
    // The gateway ends this process next.
    return { failed: reason instanceof WorkerFailure ? reason.reason : 'crash' };
  }
};

setPriority(niceness);
process.on('disconnect', () => process.exit());
process.on('message', async (assignment: Assignment) => process.send?.(await run(assignment)));
