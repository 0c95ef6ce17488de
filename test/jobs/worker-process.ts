/** A worker process for tests with real stores, a slow renderer and a chosen crash point. */

import { pino } from 'pino';
import { Observable, of } from 'rxjs';
import { openAccounts } from '../../src/accounts.ts';
import { openBlobs } from '../../src/adapters/blobs/open.ts';
import { openState } from '../../src/adapters/state/open.ts';
import { loadConfig } from '../../src/config.ts';
import { createJobs } from '../../src/jobs/jobs.ts';
import { plainRecord } from '../../src/jobs/render-record.ts';
import type { Engine } from '../../src/ports/engines/engine.ts';
import type { RenderEvent } from '../../src/ports/engines/render.ts';
import type { State } from '../../src/ports/state.ts';
import { createWebhooks } from '../../src/webhooks/webhooks.ts';
import { noQuotas } from '../no-quotas.ts';
import { crashPoints } from './crash-points.ts';
import { videoModel } from './harness.ts';
import { trustingCodec } from './trusting-codec.ts';

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const renderMs = Number(process.env.TEST_RENDER_MS);
const engine: Engine = {
  chat: () => {
    throw new Error('renders only');
  },
  render: (_model, call, { jobId }) =>
    new Observable<RenderEvent>((subscriber) => {
      say(`started ${jobId}`);
      let finished = false;
      const timer = setTimeout(() => {
        finished = true;
        subscriber.next({
          type: 'output',
          index: 0,
          mediaType: 'video/mp4',
          seconds: call.seconds,
          bytes: () => of(Buffer.from(`video of ${jobId}`)),
        });
        subscriber.complete();
      }, renderMs);
      return () => {
        clearTimeout(timer);
        if (!finished) say(`stopped ${jobId}`);
      };
    }),
};

/** Dies before or after the first call that the chosen crash point names. */
const crashable = (state: State, name: string | undefined): State => {
  const crashPoint = crashPoints.find((each) => each.name === name);
  if (crashPoint === undefined) return state;
  const die = () => process.kill(process.pid, 'SIGKILL');
  return new Proxy(state, {
    get: (target, method: keyof State) => {
      const call = target[method] as (...args: unknown[]) => Promise<unknown>;
      return async (...args: unknown[]) => {
        const hit = crashPoint.at(`${method} ${JSON.stringify(args)}`);
        if (hit && crashPoint.when === 'before') die();
        const answer = await call(...args);
        if (hit && crashPoint.when === 'after') die();
        return answer;
      };
    },
  });
};

const config = loadConfig();
const log = pino({ level: 'error' }, pino.destination(2));
const state = crashable(await openState(config), process.env.TEST_CRASH_POINT);
const publicUrl = () => 'http://gateway/v1';
const blobs = await openBlobs(config, { state, log, publicUrl });
const accounts = await openAccounts(config, log);
const webhooks = createWebhooks(
  { state, recordOf: plainRecord, publicUrl, log },
  { allowPrivate: true, pollMs: 200 },
);
const jobs = createJobs(
  {
    state,
    blobs,
    codec: trustingCodec,
    catalog: {
      list: () => [videoModel],
      inService: () => [videoModel],
      resolve: () => ({ model: videoModel, variant: undefined }),
      find: () => videoModel,
      findPublic: () => undefined,
    },
    engines: { of: () => engine, health: () => ({}), close: async () => undefined },
    usage: accounts.usage,
    quotas: noQuotas,
    notify: webhooks.notify,
    publicUrl,
    log,
  },
  { ...config.jobs, heartbeatMs: 200, leaseMs: 1_500, pollMs: 100, maintenanceMs: 300 },
);
process.once('SIGTERM', async () => {
  await jobs.close();
  await webhooks.close();
  await accounts.close();
  await blobs.close();
  await state.close();
});
say('ready');
