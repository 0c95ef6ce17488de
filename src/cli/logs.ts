/** `sluice logs`: the requests that ended last in a running gateway, and those that end from now on. */
import type { LogEntry, LogList } from '../../schemas/admin/requests.ts';
import { paint, type Style } from './colours.ts';
import { type Command, json, UsageError } from './command.ts';
import { print } from './output.ts';
import { GatewayClient } from './remote/gateway-client.ts';
import { runningGateway, targetOptions } from './remote/target.ts';

const usual = 20;

export const logs: Command = {
  name: 'logs',
  summary: 'show the requests that ended last in a running gateway',
  details: 'A gateway keeps the last 1024 of each of its processes. With --json every line is an object.',
  options: {
    follow: { short: 'f', help: 'go on as requests end, until it is interrupted' },
    limit: { value: 'NUMBER', help: `how many (${usual})` },
    json,
    ...targetOptions,
  },
  run: async (input) => {
    const limit = Number(input.text('limit') ?? usual);
    if (!Number.isInteger(limit) || limit < 1 || limit > 1000)
      throw new UsageError('--limit must be a whole number from 1 to 1000');
    const client = new GatewayClient(runningGateway(input));
    const show = (entry: LogEntry): void => print(input.given('json') ? JSON.stringify(entry) : line(entry));
    if (!input.given('follow')) {
      const { data } = await client.get<LogList>(`/logs?limit=${limit}`);
      for (const entry of data.slice(-limit)) show(entry);
      return;
    }
    for await (const text of client.lines(`/logs?follow=true&limit=${limit}`))
      show(JSON.parse(text) as LogEntry);
  },
};

const line = (entry: LogEntry): string => {
  const { time, status, method, route, model, subscription, cut, cost, id } = entry;
  return [
    paint('dim', new Date(time).toISOString()),
    paint(styleOf(status), status === 0 ? '–––' : String(status)),
    `${String(entry.total_ms).padStart(7)} ms`,
    `${method} ${route ?? '?'}`,
    ...(model === null ? [] : [model]),
    ...(entry.prompt_tokens + entry.completion_tokens === 0
      ? []
      : [`${entry.prompt_tokens}+${entry.completion_tokens} tokens`]),
    ...(cost === null || cost === '0' ? [] : [`USD ${cost}`]),
    ...(cut === null ? [] : [paint('yellow', cut)]),
    ...(subscription === null ? [] : [subscription]),
    paint('dim', id),
  ].join('  ');
};

const styleOf = (status: number): Style =>
  status === 0 || status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green';
