/** Tests queueing for engines at capacity: who waits, who runs next, who is refused. */
import fc from 'fast-check';
import t from 'tap';
import { createEngine, type RunningEngine } from '../../src/engines/engine.ts';
import { type ApiError, asApiError } from '../../src/errors.ts';
import { FairQueue } from '../../src/helpers/fair-queue.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import { chatOf, silent } from '../engines/collect.ts';
import {
  type ReceivedRequest,
  type ScriptedEngine,
  startScriptedEngine,
} from '../engines/scripted-engine.ts';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { sampleCall, sampleModel } from '../samples.ts';

/** A call that says whose it is in its prompt. */
const call = (engine: RunningEngine, subscription: string, name: string) => {
  const outcome: { error?: ApiError; ended: boolean } = { ended: false };
  const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text: `name:${name};` }] }];
  const flow = { requestId: name, subscription, backpressure: new Backpressure() };
  const running = chatOf(engine)(sampleModel(), sampleCall({ messages }), flow).subscribe({
    error: (error: unknown) => {
      outcome.error = asApiError(error);
    },
    complete: () => {
      outcome.ended = true;
    },
  });
  return { outcome, leave: () => running.unsubscribe() };
};

const nameOf = (request: ReceivedRequest): string => /name:([^;]+);/.exec(request.body)?.[1] ?? '?';
const names = (engine: ScriptedEngine): string => engine.requests.map(nameOf).join(' ');

const start = async (
  t: { teardown(callback: () => Promise<void>): void },
  queue: { queueLength?: number; waitMs?: number } = {},
) => {
  const engine = await startScriptedEngine(() => undefined);
  const subject = createEngine(
    'pool-a',
    { wire: 'openai', replicas: [engine.url], concurrency: 1 },
    { log: silent, env: {}, queue },
  );
  t.teardown(async () => {
    await engine.close();
    await subject.close();
  });
  return { engine, subject };
};

t.test('fair queueing: a flood of one subscription delays another by one call at most', async (t) => {
  const { engine, subject } = await start(t);
  engine.script = (request) => {
    if (request.number > 0) request.answer();
  };
  const flood = Array.from({ length: 6 }, (_, index) => call(subject, 'sub_a', `a${index}`));
  await engine.request(0);
  const others = ['b0', 'b1', 'c0'].map((name) => call(subject, `sub_${name[0]}`, name));
  const late = call(subject, 'sub_a', 'a6');
  flood[2]?.leave();
  engine.requests[0]?.answer();
  await eventually(() => [...others, late].every(({ outcome }) => outcome.ended));
  t.equal(names(engine), 'a0 a1 b0 c0 a3 b1 a4 a5 a6', 'a2 had left');
});

t.test('a call that waits too long or finds the queue full gets Retry-After', async (t) => {
  const { engine, subject } = await start(t, { queueLength: 2, waitMs: 300 });
  engine.script = (request) => {
    if (request.number === 0) request.answer();
  };
  call(subject, 'sub_a', 'quick');
  await eventually(() => engine.requests.length === 1);
  const running = call(subject, 'sub_a', 'a0');
  await engine.request(1);
  const [second, third, fourth] = ['a1', 'a2', 'a3'].map((name) => call(subject, 'sub_a', name));
  const busy = { kind: 'unavailable', status: 503, message: 'The model is busy, try again' };
  t.match(fourth?.outcome.error, { ...busy, headers: { 'retry-after': /^[1-9]\d*$/ } }, 'no place');
  const other = call(subject, 'sub_b', 'b0');
  t.match(third?.outcome.error, busy, 'the last of a flood makes room for another subscription');
  t.equal(second?.outcome.error, undefined);
  await eventually(() => second?.outcome.error !== undefined && other.outcome.error !== undefined);
  t.match([second?.outcome.error, other.outcome.error], [busy, busy], 'both waited for too long');
  running.leave();
  t.equal(names(engine), 'quick a0');
});

t.test('waiting calls fail when the last replica is ejected', async (t) => {
  const { engine, subject } = await start(t);
  engine.script = (request) => request.reset();
  // Two broken connections in a row, and the replica is ejected.
  await eventually(() => {
    const { outcome } = call(subject, 'sub_a', 'a');
    return outcome.error?.message === 'The model is unavailable, try again';
  });
  t.equal(subject.health(), 'down');
  const calls = Array.from({ length: 3 }, () => call(subject, 'sub_a', 'b'));
  t.ok(calls.every(({ outcome }) => outcome.error?.status === 503));
});

t.test('any history of a queue: no call is lost, and subscriptions are served round-robin', async () => {
  const step = fc.record({ join: fc.boolean(), subscription: fc.nat(3), which: fc.nat(5) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const queue = new FairQueue<{ subscription: string; rejected(): void; name: string }>(6);
      /** By subscription, in round-robin order. */
      const model: { subscription: string; names: string[] }[] = [];
      const remove = (name: string): void => {
        for (const each of model) each.names = each.names.filter((other) => other !== name);
        const empty = model.findIndex(({ names }) => names.length === 0);
        if (empty >= 0) model.splice(empty, 1);
      };
      const size = () => model.reduce((sum, { names }) => sum + names.length, 0);
      for (const [index, { join, subscription }] of steps.entries()) {
        const name = `${index}`;
        if (join) {
          const own = model.find((each) => each.subscription === `${subscription}`);
          const longest = model.reduce(
            (most, each) => (each.names.length > most ? each.names.length : most),
            0,
          );
          const full = size() >= 6;
          const room = !full || longest > (own?.names.length ?? 0) + 1;
          const joined = queue.enqueue({
            subscription: `${subscription}`,
            name,
            rejected: () => remove(name),
          });
          if (joined !== room) throw new Error(`step ${index}: joined ${joined}`);
          if (!joined) continue;
          const own2 = model.find((each) => each.subscription === `${subscription}`);
          if (own2 === undefined) model.push({ subscription: `${subscription}`, names: [name] });
          else own2.names.push(name);
        } else {
          const first = queue.first();
          if (first?.name !== model[0]?.names[0]) throw new Error(`step ${index}: ${first?.name} is first`);
          if (first === undefined) continue;
          queue.dequeue(first);
          const [turn] = model.splice(0, 1);
          if (turn !== undefined && turn.names.length > 1)
            model.push({ ...turn, names: turn.names.slice(1) });
        }
        if (queue.size !== size() || queue.size > 6) throw new Error(`step ${index}: ${queue.size} wait`);
      }
    }),
  );
});

t.test(
  'at the gateway: a slot of the subscription is held while the engine fails, and no longer',
  async (t) => {
    const engine = await startScriptedEngine((request) =>
      request.json(500, { error: { message: 'broken' } }),
    );
    const gateway = await startGateway({
      catalog: `
engines:
  far: { wire: openai, replicas: ['${engine.url}'], concurrency: 1 }
models:
  far/chat: { engine: far, context_length: 1000, tokenizer: simulator, limits: { concurrency: 1, requests_per_minute: 1000 } }
`,
    });
    t.teardown(async () => {
      await gateway.stop();
      await engine.close();
    });
    const ask = async () => {
      const response = await fetch(`${gateway.url}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'far/chat', messages: [{ role: 'user', content: 'Hi' }] }),
      });
      return response.status;
    };
    const statuses = await Promise.all(Array.from({ length: 4 }, ask));
    t.ok(statuses.every((status) => status >= 500));
    t.match(gateway.ports.admission.stats(), { running: 0, waiting: 0, admitted: 4 });
    t.ok(
      gateway.logLines.some((line) => line.msg === 'admitted after waiting' && line.model === 'far/chat'),
      'waits are in the log',
    );
  },
);
