/** Measures what a process keeps in memory, without its garbage. */
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes of the heap and of buffers. The latter are freed a moment after their collection. */
export const memoryInUse = async (): Promise<number> => {
  for (let times = 0; times < 3; times++) {
    collect();
    await delay(20);
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};
