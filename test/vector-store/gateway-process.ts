/** Runs a gateway as a child process that reports its address and memory growth. */
import { pino } from 'pino';
import { loadConfig } from '../../src/config.ts';
import { startGateway } from '../../src/main.ts';

const gateway = await startGateway(loadConfig(), pino({ level: 'warn' }, pino.destination(2)));

const measured = () => {
  const { rss, arrayBuffers } = process.memoryUsage();
  return { resident: rss, buffers: arrayBuffers };
};
let peak = measured();
const look = (): ReturnType<typeof measured> => {
  const now = measured();
  peak = {
    resident: Math.max(peak.resident, now.resident),
    buffers: Math.max(peak.buffers, now.buffers),
  };
  return now;
};
setInterval(look, 10).unref();

process.on('message', () => {
  // What is held, where garbage can be collected first.
  globalThis.gc?.();
  const now = look();
  process.send?.({ peak, now });
  peak = now;
});
process.send?.(gateway.url);
// Nobody is left to serve.
process.once('disconnect', () => process.exit());
process.once('SIGTERM', () => void gateway.stop().then(() => process.exit()));
