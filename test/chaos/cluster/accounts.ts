/** Keys of a chaos run: subscriptions with wide limits, and three keys with a limit or a budget to exhaust. */
import { nanodollars } from '../../../src/helpers/decimal.ts';
import { eventually } from '../../eventually.ts';

export const adminToken = 'chaos-operator-token';

/** Each is asked for more: a request per second of about 26 tokens. */
export const limits = { requests: 30, tokens: 800 };

export interface Accounts {
  /** Secrets of keys, one of each subscription. */
  readonly secrets: readonly string[];
  readonly limited: Readonly<
    Record<'requests' | 'tokens' | 'budget', { readonly id: string; readonly secret: string }>
  >;
  readonly budget: number;
  /** In nanodollars, once nothing is reserved. */
  budgetUsed(seconds: number): Promise<number>;
}

const subscriptions = 6;

/** `dollars`: of the budget. */
export const createAccounts = async (admin: readonly string[], dollars: string): Promise<Accounts> => {
  const operate = async <T>(method: string, path: string, body?: object, at = admin[0]): Promise<T> => {
    const response = await fetch(`${at}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(10_000),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  const newKey = (subscription: string, name: string, own?: object) =>
    operate<{ id: string; secret: string }>('POST', '/keys', {
      ...{ subscription, name },
      ...(own && { limits: own }),
    });
  const ids: string[] = [];
  const secrets: string[] = [];
  for (let number = 1; number <= subscriptions; number++) {
    const { id } = await operate<{ id: string }>('POST', '/subscriptions', { name: `chaos ${number}` });
    await operate('PATCH', `/limits/${id}`, { requests_per_minute: 100_000, concurrency: 200 });
    ids.push(id);
    secrets.push((await newKey(id, 'mix')).secret);
  }
  const limited = {
    requests: await newKey(ids[0] ?? '', 'requests', { requests_per_minute: limits.requests }),
    tokens: await newKey(ids[1] ?? '', 'tokens', { tokens_per_minute: limits.tokens }),
    budget: await newKey(ids[2] ?? '', 'budget'),
  };
  const { id: budget } = await operate<{ id: string }>('POST', '/budgets', {
    key: limited.budget.id,
    amount: dollars,
    period: 'total',
  });
  return {
    secrets,
    limited,
    budget: nanodollars(dollars),
    budgetUsed: async (seconds) => {
      const status = await eventually(
        async () => {
          const seen = await operate<{ used: string; reserved: string }>('GET', `/budgets/${budget}`);
          return seen.reserved === '0' && seen;
        },
        'nothing is reserved',
        seconds,
      );
      return nanodollars(status.used);
    },
  };
};
