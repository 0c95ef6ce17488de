/** `sluice engines …`: replicas of a running gateway, and taking one out of service. */
import type { AdminEngine } from '../../schemas/admin/engines.ts';
import { type Command, json } from './command.ts';
import { print, printJson, printTable } from './output.ts';
import { GatewayClient } from './remote/gateway-client.ts';
import { runningGateway, targetOptions } from './remote/target.ts';
import { engineRows } from './status.ts';

const list: Command = {
  name: 'engines list',
  summary: 'show the engines of a running gateway and their replicas',
  options: { json, ...targetOptions },
  run: async (input) => {
    const found = await new GatewayClient(runningGateway(input)).all<AdminEngine>('/engines');
    if (input.given('json')) return printJson(found);
    printTable(['ENGINE', 'STATE', 'REPLICA', 'STATE', 'IN FLIGHT'], found.flatMap(engineRows));
  },
};

const draining = (verb: 'drain' | 'undrain', summary: string): Command => ({
  name: `engines ${verb}`,
  operands: 'ENGINE REPLICA',
  arity: [2, 2],
  summary,
  details: 'REPLICA is its address in `sluice engines list`.',
  options: { json, ...targetOptions },
  run: async (input) => {
    const [engine = '', replica = ''] = input.operands;
    const client = new GatewayClient(runningGateway(input));
    const found = await client.post<AdminEngine>(`/engines/${encodeURIComponent(engine)}/${verb}`, {
      replica,
    });
    if (input.given('json')) return printJson(found);
    const calls = found.replicas.find(({ url }) => url === replica)?.in_flight ?? 0;
    print(`${replica} is ${verb}ed; ${calls} calls run on it.`);
  },
});

export const engines: readonly Command[] = [
  list,
  draining('drain', 'let a replica finish its calls and give it no more'),
  draining('undrain', 'give a drained replica calls again'),
];
