/** `sluice serve`: the gateway itself. */
import { type Command, UsageError } from './command.ts';

/** More than cores help nobody; a slip of the keyboard should not start a thousand. */
const mostProcesses = 256;

export const serve: Command = {
  name: 'serve',
  operands: '',
  arity: [0, 0],
  summary: 'start the gateway and run until a signal ends it',
  details:
    'Settings come from the environment: HOST, PORT, SLUICE_DATA, SLUICE_CONFIG and others; see the README.\nWith several processes SIGUSR2 replaces them one by one, without losing a request; limits then need REDIS_URL to hold over all of them.',
  options: { processes: { value: 'N', help: 'gateways that share the port, one a core, say (1)' } },
  run: async (input) => {
    const text = input.text('processes') ?? '1';
    const processes = Number(text);
    if (!/^[1-9]\d*$/.test(text) || processes > mostProcesses)
      throw new UsageError(`--processes must be a whole number from 1 to ${mostProcesses}, not "${text}"`);
    // Loaded when asked for: the other commands start without it.
    await (await import('../main.ts')).serve(processes);
  },
};
