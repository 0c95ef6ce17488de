/** A Redis that goes away: streams go on, and can be read in their gateway. */
import t from 'tap';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { redisMissing, startRedis } from '../services/redis.ts';
import { ask, contentOf, eventsOf, idOf, lastId, leaveAfter, resume, say, send } from './client.ts';

t.test('Redis is unavailable', { skip: redisMissing({ own: true }) ?? false }, async (t) => {
  const redis = await startRedis({ own: true });
  const gateway = await startGateway({
    env: { REDIS_URL: redis.url, SLUICE_REDIS_PERSISTENCE: 'ignore', SLUICE_STREAM_LOG_MB: '1' },
  });
  t.teardown(async () => {
    await gateway.stop();
    await redis.stop();
  });
  const events: UsageEvent[] = [];
  const { usage } = gateway.ports;
  const record = usage.record.bind(usage);
  usage.record = (event) => {
    events.push(event);
    return record(event);
  };
  const chat = (prompt: string) => ({ model: 'sluice/chat', messages: say(prompt), stream: true });
  const headers = { 'sluice-resumable': '60' };
  const body = chat('/sim tokens=150 seed=2 rate=30');
  const running = await send(gateway, 'POST', '/chat/completions', { body, headers });
  const before = await leaveAfter(running, 3);

  redis.process?.kill('SIGSTOP');
  const begun = await ask(gateway, 'POST', '/chat/completions', { body: chat('/sim tokens=5'), headers });
  t.equal(begun.status, 200, begun.text);
  const all = await resume(gateway, idOf(begun), 0);
  t.equal(all.text, eventsOf(begun.text).slice(1).join(''), 'one that begins now can be read here');
  await eventually(() => gateway.logLines.some(({ msg }) => msg === 'stream no longer shared'), 'logged');
  t.match(events, [{ outcome: 'completed' }], 'and is billed once');

  const rest = await resume(gateway, idOf(running), lastId(before));
  t.equal(rest.status, 200);
  redis.process?.kill('SIGCONT');
  const again = await ask(gateway, 'POST', '/chat/completions', {
    body: chat('/sim tokens=150 seed=2 rate=max'),
  });
  t.equal(
    contentOf([...before, ...eventsOf(rest.text)]),
    contentOf(eventsOf(again.text)),
    'nothing is missing',
  );
});
