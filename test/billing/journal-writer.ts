/** Run as a process: records 500 events into a journal that cannot be shipped, prints a line once all are kept, and waits to be killed. */
import { pino } from 'pino';
import { forkJoin } from 'rxjs';
import { openUsageLog } from '../../src/billing/usage-log.ts';
import { usageEvent } from './usage-events.ts';

const away = {
  publish: () => Promise.reject(new Error('away')),
  check: () => Promise.resolve(),
  close: () => Promise.resolve(),
};
const usage = openUsageLog({
  folder: process.argv[2] ?? '',
  events: away,
  sync: 'none',
  log: pino({ level: 'silent' }),
});
forkJoin(Array.from({ length: 500 }, () => usage.record(usageEvent()))).subscribe(() => console.log('kept'));
setInterval(() => {}, 1000);
