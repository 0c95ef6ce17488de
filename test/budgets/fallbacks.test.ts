/** Tests that fallbacks are within what is reserved: the dearest is, and one that could use more is skipped. */
import { pino } from 'pino';
import { firstValueFrom, of, throwError } from 'rxjs';
import t from 'tap';
import { answerOrFallBack } from '../../pipelines/core/answer-or-fall-back.ts';
import type { Model } from '../../schemas/catalog.ts';
import { createBudgetsManagement } from '../../src/budgets/manage.ts';
import { fail } from '../../src/errors.ts';
import { eventually } from '../eventually.ts';
import { asked, other, startSite } from '../fallbacks/fixtures.ts';
import { sampleModel } from '../samples.ts';

t.test('the dearest fallback is reserved', async (t) => {
  const site = await startSite(t, (request) => request.json(500, { error: { message: 'sick' } }), {
    row: { pricing: { prompt: '0.000001', completion: '0.000001' }, max_completion_tokens: 5 },
    otherRow: { pricing: { prompt: '0.0001', completion: '0.0001' }, max_completion_tokens: 50 },
  });
  const budgets = createBudgetsManagement(site.gateway.ports.state);
  const { id } = await budgets.create({ subscription: 'sub_default', amount: '0.02', period: 'total' });
  const chat = (model: string, max_tokens: number) =>
    site.post('/chat/completions', { model, max_tokens, messages: [{ role: 'user', content: 'Hi' }] });
  await eventually(async () => (await chat(other, 50)).status === 429, 'the gateway knows the budget');
  const refused = await chat(asked, 50);
  t.equal(refused.status, 429, 'its own price would fit, its fallback does not');
  t.equal(site.sick.requests.length, 0, 'no engine is called');
  await budgets.update(id, { amount: '5' });
  const answered = await eventually(async () => {
    const response = await chat(asked, 50);
    return response.status === 200 && ((await response.json()) as { model: string });
  }, 'the gateway knows the new amount');
  t.equal(answered.model, other);
  t.strictSame(site.logged('call used more than was reserved'), []);
});

t.test('one that could use more is skipped', async (t) => {
  const names = ['test/asked', 'test/dear', 'test/fair'];
  const [model, dear, fair] = names.map((id) => sampleModel({ id })) as [Model, Model, Model];
  const sent: string[] = [];
  const slot = {
    exchange: { log: pino({ level: 'silent' }), stream: undefined },
    task: undefined as unknown,
    account: {
      most: () => ({
        prompt: 1,
        completion: 1,
        cost: (slot.task as { model: unknown }).model === dear ? 2 : 1,
      }),
    },
    quota: {
      tokens: undefined,
      covers: ({ cost }: { cost: number }) => cost <= 1,
      expectEvent: () => undefined,
      settle: () => undefined,
      end: () => undefined,
    },
  };
  const answer = answerOrFallBack<{ readonly model: Model }, string>({
    task: { model },
    fallbacks: {
      models: () => [dear, fair],
      taskFor: (each) => of({ model: each }),
      handOver: () => undefined,
    },
    slot,
    send: ({ model: { id } }) => {
      sent.push(id);
      return id === 'test/asked' ? throwError(() => fail('unavailable', 'down')) : of(id);
    },
  });
  t.equal(await firstValueFrom(answer), 'test/fair');
  t.strictSame(sent, ['test/asked', 'test/fair']);
});
