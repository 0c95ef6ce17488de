/** Script of a worker process: runs its tasks on a thread, watches its own memory, and ends with the gateway. */
import { setPriority } from 'node:os';
import { WorkerFailure } from './pool-worker.ts';
import { Thread } from './thread.ts';
import type { Assignment, Report } from './worker-process.ts';

/** Strangers' files wait for the gateway's own work, not the other way round. */
const niceness = 10;

let thread: Thread | undefined;

const run = async ({ entry, heapMegabytes, payloadBytes, ...job }: Assignment): Promise<Report> => {
  thread ??= new Thread({ entry: new URL(entry), heapMegabytes, onEnd: () => undefined });
  try {
    const payload = await receive(payloadBytes);
    const task = { ...(job.task as object), payload };
    return { outcome: await thread.run({ ...job, task, transfer: [payload.buffer] }) };
  } catch (reason) {
    // The gateway ends this process next.
    return { failed: reason instanceof WorkerFailure ? reason.reason : 'crash' };
  }
};

/** The next bytes of the standard input: the gateway sends those of one task at a time. */
const receive = async (length: number): Promise<Uint8Array<ArrayBuffer>> => {
  const payload = new Uint8Array(length);
  if (length === 0) return payload;
  return new Promise((resolve) => {
    let received = 0;
    const take = (piece: Buffer): void => {
      payload.set(piece, received);
      received += piece.length;
      if (received < length) return;
      process.stdin.off('data', take).pause();
      resolve(payload);
    };
    process.stdin.on('data', take).resume();
  });
};

setPriority(niceness);
process.on('disconnect', () => process.exit());
process.on('message', async (assignment: Assignment) => process.send?.(await run(assignment)));
