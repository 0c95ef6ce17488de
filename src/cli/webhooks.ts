/** `sluice webhooks …`: lists webhook deliveries and their failures, and sends one again. */
import type { DeliveryManagement, ShownDelivery } from '../admin/management.ts';
import { type Command, type Input, json, UsageError } from './command.ts';
import { minute, print, printJson, remark, table } from './output.ts';
import { targetOptions } from './remote/target.ts';
import { withManagement } from './stores.ts';

const withDeliveries = <T>(input: Input, work: (deliveries: DeliveryManagement) => Promise<T>): Promise<T> =>
  withManagement(input, ({ deliveries }) => work(deliveries));

const defaultLimit = 50;

const list: Command = {
  name: 'webhooks list',
  operands: '[JOB]',
  arity: [0, 1],
  summary: 'show deliveries, the latest first; with JOB only those of that job, with every attempt',
  options: {
    subscription: { value: 'SUBSCRIPTION', help: 'only those of this subscription, by id' },
    limit: { value: 'NUMBER', help: `how many (${defaultLimit})` },
    json,
    ...targetOptions,
  },
  run: (input) =>
    withDeliveries(input, async (deliveries) => {
      const [job] = input.operands;
      const found =
        job === undefined
          ? await deliveries.list(limitOf(input.text('limit')), input.text('subscription'))
          : await deliveries.ofJob(job);
      if (input.given('json')) return printJson(found.map(({ id, value }) => ({ id, ...value })));
      if (found.length === 0) return remark('No deliveries.');
      print(job === undefined ? overview(found) : found.map(story).join('\n\n'));
    }),
};

const resend: Command = {
  name: 'webhooks resend',
  operands: 'DELIVERY…',
  arity: [1, 100],
  summary: 'deliver once more, at once and with all attempts again',
  details: 'DELIVERY is an id from `sluice webhooks list`: a job and how it ended.',
  options: { json, ...targetOptions },
  run: (input) =>
    withDeliveries(input, async (deliveries) => {
      const sent = [];
      for (const id of input.operands) sent.push({ id, ...(await deliveries.resend(id)) });
      if (input.given('json')) return printJson(sent);
      for (const { id, url } of sent) print(`${id} will be sent to ${url}.`);
      remark('A running gateway or worker sends it within seconds.');
    }),
};

const limitOf = (text: string | undefined): number => {
  const limit = Number(text ?? defaultLimit);
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000)
    throw new UsageError('--limit must be a whole number from 1 to 1000');
  return limit;
};

const overview = (found: readonly ShownDelivery[]): string =>
  table(
    ['DELIVERY', 'STATUS', 'ATTEMPTS', 'LAST', 'NEXT (UTC)', 'URL'],
    found.map(({ id, value }) => [
      id,
      value.status,
      String(value.attempts.length),
      outcome(value.attempts.at(-1)),
      value.next === null ? '' : minute(Math.floor(value.next / 1000)),
      value.url,
    ]),
  );

const story = ({ id, value }: ShownDelivery): string =>
  [
    `${id}: ${value.status}, to ${value.url}`,
    ...value.attempts.map(
      (attempt) =>
        `  ${new Date(attempt.time).toISOString()}  ${outcome(attempt)} after ${attempt.milliseconds} ms`,
    ),
    ...(value.next === null ? [] : [`  next at ${new Date(value.next).toISOString()}`]),
  ].join('\n');

const outcome = (attempt: { status: number | null; error: string | null } | undefined): string =>
  attempt === undefined ? 'none yet' : (attempt.error ?? `taken with ${attempt.status}`);

export const webhooks: readonly Command[] = [list, resend];
