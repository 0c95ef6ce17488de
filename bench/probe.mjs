/** Loaded into a measured Node process before its own code: answers questions over IPC about its event loop, and profiles it when told to. */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const resolution = 10;
const samplingMicroseconds = 200;
const late = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - resolution);

/** How late the loop has been since last asked. */
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
