/** Preloaded into a measured Node process: reports its event loop delay over IPC and profiles it on request. */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Milliseconds. Each look wakes the process, which peers in other languages are spared. */
const resolution = 50;
const samplingMicroseconds = 200;
const late = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - resolution);

/** Event loop delay since the last report. */
const loopDelay = (delay) => {
  const seen = delay.count > 0;
  const answer = {
    p50: seen ? late(delay.percentile(50)) : 0,
    p99: seen ? late(delay.percentile(99)) : 0,
    max: seen ? late(delay.max) : 0,
  };
  delay.reset();
  return answer;
};

const startProfile = async (session) => {
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: samplingMicroseconds });
  await session.post('Profiler.start');
};

const stopProfile = async (session, file) => {
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  writeFileSync(file, JSON.stringify(profile));
};

if (process.send !== undefined) {
  const delay = monitorEventLoopDelay({ resolution });
  const session = new Session();
  delay.enable();
  process.on('message', async ({ ask, file }) => {
    if (ask === 'loop-delay') process.send?.({ loopDelay: loopDelay(delay) });
    if (ask === 'start-profile') process.send?.({ started: await startProfile(session) });
    if (ask === 'stop-profile') process.send?.({ stopped: await stopProfile(session, file) });
  });
  process.channel?.unref();
}
