/** `sluice serve`: the gateway itself. */
import type { Command } from './command.ts';

export const serve: Command = {
  name: 'serve',
  operands: '',
  arity: [0, 0],
  summary: 'start the gateway and run until a signal ends it',
  details:
    'Settings come from the environment: HOST, PORT, SLUICE_DATA, SLUICE_CONFIG and others; see the README.',
  options: {},
  // Loaded when asked for: the other commands start without it.
  run: async () => (await import('../main.ts')).serve(),
};
