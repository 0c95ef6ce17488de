/** A gateway for tests of budgets and limits, with keys and budgets of its own. */
import type { NewBudget } from '../../schemas/budgets.ts';
import { type BudgetsManagement, createBudgetsManagement } from '../../src/budgets/manage.ts';
import { createKeyManagement } from '../../src/keys/manage.ts';
import type { KeyChanges } from '../../src/keys/settings.ts';
import { eventually } from '../eventually.ts';
import { type GatewayOptions, startGateway, type TestGateway } from '../gateway.ts';

export interface Reply {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly shouldRetry: string | null;
  readonly body: unknown;
}

type Target = Pick<NewBudget, 'subscription' | 'key' | 'tag'>;

export interface BudgetGateway {
  readonly gateway: TestGateway;
  readonly budgets: BudgetsManagement;
  newKey(changes?: KeyChanges): Promise<{ readonly id: string; readonly secret: string }>;
  /** A key with a budget. */
  limited(budget: Omit<NewBudget, keyof Target>): Promise<{ id: string; secret: string; budget: string }>;
  /** Resolves when the gateway knows all budgets that were made until now. */
  known(): Promise<void>;
  post(secret: string, path: string, body: object, headers?: Record<string, string>): Promise<Reply>;
  /** Chat with a completion of so many tokens. */
  chat(secret: string, changes?: object): Promise<Reply>;
}

export const startBudgetGateway = async (options?: GatewayOptions): Promise<BudgetGateway> => {
  const gateway = await startGateway(options);
  const { state } = gateway.ports;
  const keys = createKeyManagement(state);
  const budgets = createBudgetsManagement(state);

  const newKey = async (changes: KeyChanges = {}) => {
    const { secret, key } = await keys.createKey({ subscription: 'default', ...changes });
    return { id: key.id, secret };
  };

  const post = async (secret: string, path: string, body: object, headers = {}): Promise<Reply> => {
    const response = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return {
      status: response.status,
      retryAfter: response.headers.get('retry-after'),
      shouldRetry: response.headers.get('x-should-retry'),
      body: text.startsWith('{') ? JSON.parse(text) : text,
    };
  };

  const chat = (secret: string, changes: object = {}): Promise<Reply> =>
    post(secret, '/chat/completions', {
      model: 'sluice/chat',
      messages: [{ role: 'user', content: '/sim tokens=10\nHello' }],
      max_tokens: 10,
      ...changes,
    });

  return {
    gateway,
    budgets,
    newKey,
    limited: async (budget) => {
      const key = await newKey();
      const { id } = await budgets.create({ key: key.id, ...budget });
      return { ...key, budget: id };
    },
    known: async () => {
      const key = await newKey();
      await budgets.create({ key: key.id, amount: '0.000000001', period: 'total' });
      await eventually(async () => (await chat(key.secret)).status === 429, 'the gateway knows the budgets');
    },
    post,
    chat,
  };
};
