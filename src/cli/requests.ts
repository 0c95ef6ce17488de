/** `sluice requests`: the requests that a gateway runs now, and ending one of them. */
import type { AdminRequestList } from '../../schemas/admin/requests.ts';
import { type Command, json } from './command.ts';
import { print, printJson, printTable, remark } from './output.ts';
import { GatewayClient } from './remote/gateway-client.ts';
import { runningGateway, targetOptions } from './remote/target.ts';

const most = 1000;

const list: Command = {
  name: 'requests',
  summary: 'show the requests that a running gateway serves now, the oldest first',
  options: {
    model: { value: 'MODEL', help: 'only those for this model' },
    subscription: { value: 'SUBSCRIPTION', help: 'only those of this subscription, by id' },
    state: { value: 'STATE', help: 'only receiving, queued, running or streaming ones' },
    json,
    ...targetOptions,
  },
  run: async (input) => {
    const query = new URLSearchParams({ limit: String(most) });
    for (const name of ['model', 'subscription', 'state']) {
      const value = input.text(name);
      if (value !== undefined) query.set(name, value);
    }
    const client = new GatewayClient(runningGateway(input));
    const { data, has_more } = await client.get<AdminRequestList>(`/requests?${query}`);
    if (input.given('json')) return printJson(data);
    if (data.length === 0) return remark('None.');
    printTable(
      ['REQUEST', 'STATE', 'ROUTE', 'MODEL', 'SUBSCRIPTION', 'REPLICA', 'QUEUED', 'AGE', 'TOKENS IN', 'OUT'],
      data.map((each) => [
        ...[each.id, each.state, each.route ?? '–', each.model ?? '–', each.subscription ?? '–'],
        ...[each.replica ?? '–', `${each.queue_ms} ms`, `${(each.age_ms / 1000).toFixed(1)} s`],
        ...[each.prompt_tokens, each.completion_tokens].map(String),
      ]),
    );
    if (has_more) remark('There are more.');
  },
};

const cancel: Command = {
  name: 'requests cancel',
  operands: 'REQUEST…',
  arity: [1, 100],
  summary: 'end requests with an error; they are not billed',
  details: 'REQUEST is an id from `sluice requests`, which clients know as x-request-id.',
  options: { json, ...targetOptions },
  run: async (input) => {
    const client = new GatewayClient(runningGateway(input));
    const ended: unknown[] = [];
    for (const id of input.operands) {
      ended.push(await client.post(`/requests/${encodeURIComponent(id)}/cancel`));
      if (!input.given('json')) print(`${id} is cancelled.`);
    }
    if (input.given('json')) printJson(ended);
  },
};

export const requests: readonly Command[] = [cancel, list];
