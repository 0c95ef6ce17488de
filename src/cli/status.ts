/** `sluice status`: how a running gateway is doing. */
import type { AdminEngine } from '../../schemas/admin/engines.ts';
import type { AdminStatus } from '../../schemas/admin/status.ts';
import { paint } from './colours.ts';
import { type Command, json } from './command.ts';
import { aligned, print, printJson, printTable } from './output.ts';
import { GatewayClient } from './remote/gateway-client.ts';
import { runningGateway, targetOptions } from './remote/target.ts';

export const status: Command = {
  name: 'status',
  summary: 'show how a running gateway is doing; exit code 1 when it is not ready',
  options: { json, ...targetOptions },
  run: async (input) => {
    const client = new GatewayClient(runningGateway(input));
    const [found, engines] = await Promise.all([
      client.get<AdminStatus>('/status'),
      client.all<AdminEngine>('/engines'),
    ]);
    if (input.given('json')) printJson({ ...found, engines });
    else show(client.url, found, engines);
    if (!found.ready) throw new Error(`not ready: ${found.unready.join('; ')}`);
  },
};

const show = (url: string, found: AdminStatus, engines: readonly AdminEngine[]): void => {
  const { ready, models, requests, processes } = found;
  const { up, down } = found.engines;
  print(
    aligned([
      ['gateway', `${url}, API ${found.version}`],
      ['ready', ready ? paint('green', 'yes') : paint('red', 'no')],
      ['models', String(models)],
      [
        'engines',
        `${up} up${down.length === 0 ? '' : `, ${paint('red', `${down.length} down: ${down.join(', ')}`)}`}`,
      ],
      ['requests', `${requests.queued} queued, ${requests.running} running, ${requests.streaming} streaming`],
    ]),
  );
  print('');
  printTable(
    ['PROCESS', 'UP', 'MEMORY', 'QUEUED', 'RUNNING', 'STREAMING'],
    processes.map(({ pid, uptime_seconds, memory_bytes, requests: own }) => [
      ...[String(pid), `${uptime_seconds} s`, `${Math.round(memory_bytes / 1024 ** 2)} MiB`],
      ...[own.queued, own.running, own.streaming].map(String),
    ]),
  );
  print('');
  printTable(['ENGINE', 'STATE', 'REPLICA', 'STATE', 'IN FLIGHT'], engines.flatMap(engineRows));
};

/** Engines inside the gateway have no replicas. */
export const engineRows = ({ id, health, replicas }: AdminEngine): readonly (readonly string[])[] =>
  replicas.length === 0
    ? [[id, health, '–', '–', '–']]
    : replicas.map(({ url, circuit, drained, in_flight }) => [
        ...[id, health, url, drained ? 'drained' : circuit === 'closed' ? 'ok' : circuit],
        String(in_flight),
      ]);
