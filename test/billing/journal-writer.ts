/** A child process that journals 500 events, prints a line when they are durable, then waits. */
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
