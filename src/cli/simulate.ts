/** `sluice simulate`: runs the simulator as an HTTP engine until it is told to stop. */
import { parseArgs } from 'node:util';
import { quirkNames, readQuirks } from '../engines/simulator/server/quirks.ts';
import { type SimulatorServerOptions, startSimulatorServer } from '../engines/simulator/server/server.ts';

export const simulateUsage = `sluice simulate [options]

An OpenAI-compatible chat engine without a model, for tests and for trying a gateway.

  --port <number>    port to listen on; 0 for any free one (default 9000)
  --host <address>   address to listen on (default 127.0.0.1)
  --rate <number>    tokens a second of each answer, or max (default 200)
  --first <ms>       milliseconds before the first token (default 0)
  --models <ids>     ids to serve, with commas between them (default: every id)
  --key <key>        key that requests must carry as a bearer token
  --quirks <names>   habits of real engines, with commas between them:
${listed(quirkNames)}
`;

/** Resolves with the exit code once `stopped` resolves: by default at SIGINT or SIGTERM. */
export async function simulate(args: readonly string[], stopped = signalled): Promise<number> {
  let options: SimulatorServerOptions | undefined;
  try {
    options = readOptions(args);
  } catch (thrown) {
    process.stderr.write(`sluice simulate: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
    return 2;
  }
  if (options === undefined) {
    process.stdout.write(simulateUsage);
    return 0;
  }
  const server = await startSimulatorServer(options);
  process.stdout.write(`Simulator listens on ${server.url}\n`);
  await stopped();
  await server.close();
  return 0;
}

/** Undefined when help is asked for. */
function readOptions(args: readonly string[]): SimulatorServerOptions | undefined {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: text,
      host: text,
      rate: text,
      first: text,
      models: text,
      key: text,
      quirks: text,
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return undefined;
  return {
    port: numberOf('port', values.port ?? '9000', 0, 65_535),
    ...(values.host === undefined ? {} : { host: values.host }),
    ...(values.rate === undefined ? {} : { rate: rateOf(values.rate) }),
    ...(values.first === undefined ? {} : { first: numberOf('first', values.first, 0, 600_000) }),
    ...(values.models === undefined ? {} : { models: values.models.split(',') }),
    ...(values.key === undefined ? {} : { key: values.key }),
    quirks: readQuirks(values.quirks ?? ''),
  };
}

const rateOf = (text: string): number =>
  text === 'max' ? Number.POSITIVE_INFINITY : numberOf('rate', text, 0.1, 1_000_000);

function numberOf(name: string, text: string, low: number, high: number): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!(value >= low && value <= high))
    throw new RangeError(`--${name} must be a number from ${low} to ${high}`);
  return value;
}

function signalled(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      process.off('SIGINT', stop);
      process.off('SIGTERM', stop);
      resolve();
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}

function listed(names: readonly string[]): string {
  const lines: string[] = [];
  for (const name of names) {
    const last = lines.at(-1);
    if (last === undefined || last.length + name.length > 76) lines.push(`                     ${name}`);
    else lines[lines.length - 1] = `${last}, ${name}`;
  }
  return lines.join(',\n');
}
