/** A process that leaves garbage and becomes idle; ends when the garbage is gone, or fails after twenty seconds. */
import { setTimeout as delay } from 'node:timers/promises';
import { collectWhenIdle } from '../../src/helpers/idle-collection.ts';

const megabytes = (): number => process.memoryUsage().heapUsed / 2 ** 20;

const leaveGarbage = (): number => {
  const garbage = Array.from({ length: 300_000 }, (_, n) => ({ n, text: `text ${n}` }));
  return garbage.length > 0 ? megabytes() : 0;
};

const before = leaveGarbage();
process.stdout.write('idle\n');
collectWhenIdle(200);
for (let wait = 0; wait < 200 && megabytes() > before / 2; wait++) await delay(100);
process.exitCode = megabytes() > before / 2 ? 1 : 0;
