/** `sluice simulate`: runs the simulator as an HTTP engine until a signal stops it. */
import { once } from 'node:events';
import { quirkNames, readQuirks } from '../simulator/server/quirks.ts';
import type { SimulatorServerOptions } from '../simulator/server/server.ts';
import { type Command, type Input, UsageError } from './command.ts';
import { print } from './output.ts';

export const simulate: Command = {
  name: 'simulate',
  summary: 'start an OpenAI-compatible engine without a model, for tests and for trying a gateway',
  details: `QUIRKS are habits of real engines:\n  ${inLines(quirkNames, 76).join(',\n  ')}.`,
  options: {
    port: { value: 'NUMBER', help: 'port to listen on; 0 for any free one (9000)' },
    host: { value: 'ADDRESS', help: 'address to listen on (127.0.0.1)' },
    rate: { value: 'NUMBER', help: 'tokens a second of each answer, or max (200)' },
    first: { value: 'MS', help: 'milliseconds before the first token (0)' },
    models: { value: 'IDS', help: 'ids to serve, with commas between them (every id)' },
    key: { value: 'KEY', help: 'key that requests must carry as a bearer token' },
    quirks: { value: 'QUIRKS', help: 'habits to take on, with commas between them' },
  },
  run: async (input) => {
    const options = readOptions(input);
    // Loaded only here: the other commands start faster without it.
    const { startSimulatorServer } = await import('../simulator/server/server.ts');
    const server = await startSimulatorServer(options);
    print(`Simulator listens on ${server.url}`);
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
    await server.close();
  },
};

const readOptions = (input: Input): SimulatorServerOptions => {
  const [host, rate, first, models, key] = ['host', 'rate', 'first', 'models', 'key'].map(input.text);
  return {
    port: numberOf('port', input.text('port') ?? '9000', 0, 65_535),
    ...(host === undefined ? {} : { host }),
    ...(rate === undefined ? {} : { rate: rateOf(rate) }),
    ...(first === undefined ? {} : { first: numberOf('first', first, 0, 600_000) }),
    ...(models === undefined ? {} : { models: models.split(',') }),
    ...(key === undefined ? {} : { key }),
    quirks: quirksOf(input.text('quirks') ?? ''),
  };
};

const rateOf = (text: string): number =>
  text === 'max' ? Number.POSITIVE_INFINITY : numberOf('rate', text, 0.1, 1_000_000);

const numberOf = (name: string, text: string, low: number, high: number): number => {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!(value >= low && value <= high))
    throw new UsageError(`--${name} must be a number from ${low} to ${high}`);
  return value;
};

const quirksOf = (text: string) => {
  try {
    return readQuirks(text);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
};

function inLines(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last}, ${word}`;
  }
  return lines;
}
