/** Tests that job events wake and stop other processes at once, without polling. */
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { createKafkaEvents } from '../../src/adapters/events/kafka.ts';
import { readJobs } from '../../src/adapters/events/open.ts';
import { createJobEvents, Notices } from '../../src/jobs/notices.ts';
import type { Events, Receiver } from '../../src/ports/events.ts';
import { eventually } from '../eventually.ts';
import { kafkaMissing, startKafka } from '../services/kafka.ts';
import { owner, startHarness, underWay, videoJob } from './harness.ts';

const log = pino({ level: 'silent' });
const never = 3_600_000;
/** Nobody looks by himself. */
const deaf = { pollMs: never, heartbeatMs: never, maintenanceMs: never };

type Listen = (receiver: Receiver) => Promise<void>;

const process = async (events: Events, listen: Listen) => {
  const jobEvents = createJobEvents(events, log);
  const notices = new Notices((job, notice) => jobEvents.publish(job, notice));
  await listen(jobEvents.receiver(notices));
  return notices;
};

const check = async (t: Test, events: Events, listen: Listen): Promise<void> => {
  const gateway = await startHarness(t, { ...deaf, renders: 0, notices: await process(events, listen) });
  const worker = gateway.another({ ...deaf, renders: 1, notices: await process(events, listen) });
  const job = videoJob();
  // The first may be sent before the other one listens: so ask until one is heard.
  await gateway.jobs.create(job);
  await eventually(async () => {
    if (worker.renderer.renders.length > 0) return true;
    await gateway.jobs.create(videoJob());
    await new Promise((resolve) => setTimeout(resolve, 100));
    return worker.renderer.renders.length > 0;
  }, 'woken');
  const render = await underWay(worker, job);
  t.match(await gateway.jobs.remove('video', job.id, owner), { job: { status: 'cancelled' } });
  await eventually(() => render.stopped, 'stopped');
};

t.test('within a process', async (t) => {
  const receivers: Receiver[] = [];
  const published: { key: string }[] = [];
  const events: Events = {
    publish: async (topic, messages) => {
      published.push(...messages.map(({ key, value }) => ({ topic, key, ...JSON.parse(String(value)) })));
      const rubbish = ['', 'null', '{"schema":1}', 'x'.repeat(20_000), Buffer.from([255, 254])];
      for (const receive of receivers)
        for (const value of [...rubbish, ...messages.map(({ value }) => value)])
          t.strictSame(await receive([{ value }], new AbortController().signal), []);
    },
    check: async () => undefined,
    close: async () => undefined,
  };
  await check(t, events, async (receiver) => {
    receivers.push(receiver);
  });
  const [first] = published;
  const story = published.filter(({ key }) => key === first?.key);
  t.match(story, [
    { topic: 'jobs', schema: 1, type: 'video', subscription: owner, model: 'test/video', status: 'pending' },
    { status: 'in_progress', attempts: 1 },
    { status: 'cancelled' },
  ]);
});

t.test('jobs do not depend on events', async (t) => {
  const events: Events = {
    publish: () => Promise.reject(new Error('away')),
    check: async () => undefined,
    close: async () => undefined,
  };
  const gateway = await startHarness(t, {
    renders: 0,
    notices: await process(events, async () => undefined),
  });
  const worker = gateway.another({ renders: 1, notices: await process(events, async () => undefined) });
  const job = videoJob();
  await gateway.jobs.create(job);
  const render = await underWay(worker, job);
  await gateway.jobs.remove('video', job.id, owner);
  await eventually(() => render.stopped, 'stopped');
  t.equal(render.stopped, true);
});

t.test('on Kafka', { skip: kafkaMissing() ?? false }, async (t) => {
  const kafka = await startKafka();
  t.teardown(() => kafka.stop());
  const prefix = `sluice-test-${randomBytes(4).toString('hex')}`;
  const settings = { brokers: kafka.brokers.split(','), prefix };
  const events = createKafkaEvents(settings, log);
  t.teardown(() => events.close());
  await check(t, events, async (receiver) => {
    const reading = await readJobs(settings, receiver, log);
    t.teardown(() => reading.close());
  });
});
