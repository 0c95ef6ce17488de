/** Clients that lose their connections at random, under load: every text is that of an undisturbed run, billed once. */
import fc from 'fast-check';
import t from 'tap';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { startGateway } from '../gateway.ts';
import { onlyLong } from '../long.ts';
import { ask, contentOf, eventsOf, idOf, lastId, leaveAfter, resume, say, send } from './client.ts';

const streams = onlyLong === false ? 48 : 16;
const megabyte = 1024 * 1024;

t.test('random disconnects', async (t) => {
  const gateway = await startGateway({
    env: { SLUICE_STREAM_LOGS_MEMORY_MB: '1', SLUICE_STREAM_LOG_MB: '1', SLUICE_STREAM_LOGS_MB: '64' },
  });
  t.teardown(() => gateway.stop());
  const events: UsageEvent[] = [];
  const { usage } = gateway.ports;
  const record = usage.record.bind(usage);
  usage.record = (event) => {
    events.push(event);
    return record(event);
  };

  const bodyOf = (number: number) => ({
    model: 'sluice/chat',
    messages: say(
      `/sim tokens=${60 + (number % 7) * 40} seed=${number} rate=${number % 3 === 0 ? 'max' : 400}`,
    ),
    stream: true,
    stream_options: { resumable: true },
  });
  /** How many events each connection lives for; the last one is not cut. */
  const [cuts = []] = fc.sample(
    fc.array(fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 6 }), {
      minLength: streams,
      maxLength: streams,
    }),
    { numRuns: 1, seed: 27 },
  );

  const disturbed = async (number: number): Promise<{ readonly id: string; readonly text: string }> => {
    const [first = 5, ...rest] = cuts[number] ?? [];
    const sent = await send(gateway, 'POST', '/chat/completions', { body: bodyOf(number) });
    const id = idOf(sent);
    const got = await leaveAfter(sent, first);
    for (const count of rest) {
      const again = await send(gateway, 'GET', `/streams/${id}?after=${lastId(got)}`);
      got.push(...(await leaveAfter(again, count)));
    }
    const { text } = await resume(gateway, id, lastId(got));
    got.push(...eventsOf(text));
    t.strictSame(
      got.map((event) => lastId([event])),
      got.map((_, index) => index),
      `each event of stream ${number} once`,
    );
    return { id, text: contentOf(got) };
  };

  const peak = { bytes: 0 };
  const watch = setInterval(() => {
    peak.bytes = Math.max(peak.bytes, gateway.ports.streams.stats().memoryBytes);
  }, 5);
  const numbers = Array.from({ length: streams }, (_, number) => number);
  const all = await Promise.all(numbers.map(disturbed)).finally(() => clearInterval(watch));
  const billed = new Map(events.map((event) => [event.request_id, event]));
  t.equal(events.length, streams, 'one usage event each');
  t.ok(peak.bytes < 3 * megabyte, `at most ${peak.bytes} bytes of logs in memory`);

  for (const number of numbers) {
    const plain = await ask(gateway, 'POST', '/chat/completions', {
      body: { ...bodyOf(number), stream_options: {} },
    });
    t.equal(all[number]?.text, contentOf(eventsOf(plain.text)), `text ${number}`);
    const mine = billed.get(`req_${all[number]?.id.slice('stream_'.length)}`);
    const undisturbed = events.at(-1);
    t.strictSame(
      [mine?.outcome, mine?.quantities, mine?.cost],
      ['completed', undisturbed?.quantities, undisturbed?.cost],
    );
  }
});
