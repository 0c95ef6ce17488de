/** `sluice engine check`: tries a server as the gateway would use it; exit code 1 when it does not fit. */
import type { Duration } from '../../schemas/engines.ts';
import type { CheckKind, CheckOptions, Finding } from '../engine-check/check.ts';
import { InvalidOptions } from '../engine-check/finding.ts';
import { checkKinds } from '../engine-check/rows.ts';
import { milliseconds } from '../engines/duration.ts';
import { type Command, type Input, json, UsageError } from './command.ts';
import { print, printJson } from './output.ts';

export const engineCheck: Command = {
  name: 'engine check',
  operands: 'URL',
  arity: [1, 1],
  summary: 'try a model server as the gateway would use it; exit code 1 when it does not fit',
  details: `URL is a replica as in sluice.yaml: http://10.0.0.5:8000/v1. Sends a few small requests, a bad one, and one that is cancelled.
✓ fits, ! works but should be known or said in the row, ✗ does not fit. docs/engine-protocol.md has what is expected.`,
  options: {
    kind: { value: 'KIND', help: `what it serves: ${checkKinds.join(', ')}` },
    model: { value: 'NAME', help: 'the model on the server (the first that GET /models lists)' },
    key: { value: 'KEY', help: 'key of the server' },
    wire: { value: 'NAME', help: 'its protocol, a wire of sluice.yaml (openai)' },
    capabilities: {
      value: 'JSON',
      help: 'capabilities of the model\'s row: \'{"asked_by":"vllm"}\'',
    },
    voice: { value: 'NAME', help: 'a voice of a speech model (alloy)' },
    size: { value: 'WxH', help: 'size of an image (512x512) or video (832x480)' },
    timeout: { value: 'TIME', help: 'longest time for all of it, such as 90s or 30m (10m)' },
    json,
  },
  run: async (input) => {
    const options = readOptions(input);
    // Loaded only here: no other command needs it.
    const { checkEngine } = await import('../engine-check/check.ts');
    const findings: Finding[] = [];
    try {
      for await (const finding of checkEngine(options)) {
        findings.push(finding);
        if (!input.given('json')) print(lineOf(finding));
      }
    } catch (error) {
      throw error instanceof InvalidOptions ? new UsageError(error.message) : error;
    }
    const failed = findings.filter(({ verdict }) => verdict === 'fails');
    const { url, kind } = options;
    if (input.given('json')) printJson({ url, kind, fits: failed.length === 0, findings });
    if (failed.length > 0)
      throw new Error(`the server does not fit: ${failed.map(({ check }) => check).join(', ')}`);
  },
};

const signs = { fits: '✓', note: '!', fails: '✗' } as const;

const lineOf = ({ check, verdict, detail }: Finding): string =>
  `${signs[verdict]} ${check.padEnd(18)}  ${detail}`;

const readOptions = (input: Input): CheckOptions => ({
  url: urlOf(input.operands[0] ?? ''),
  kind: kindOf(input.text('kind')),
  model: input.text('model'),
  key: input.text('key'),
  wire: input.text('wire') ?? 'openai',
  capabilities: capabilitiesOf(input.text('capabilities') ?? '{}'),
  voice: input.text('voice'),
  size: sizeOf(input.text('size')),
  timeoutMs: timeOf(input.text('timeout') ?? '10m'),
});

const urlOf = (text: string): string => {
  if (!/^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/.test(text) || !URL.canParse(text))
    throw new UsageError('URL must be an address such as http://10.0.0.5:8000/v1');
  return text;
};

const kindOf = (text: string | undefined): CheckKind => {
  const kind = checkKinds.find((known) => known === text);
  if (kind === undefined) throw new UsageError(`--kind must be one of ${checkKinds.join(', ')}`);
  return kind;
};

const capabilitiesOf = (text: string): Readonly<Record<string, unknown>> => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageError('--capabilities must be a JSON object');
  return value as Readonly<Record<string, unknown>>;
};

const sizeOf = (text: string | undefined): string | undefined => {
  if (text !== undefined && !/^[1-9][0-9]{1,4}x[1-9][0-9]{1,4}$/.test(text))
    throw new UsageError('--size must be a width and a height such as 832x480');
  return text;
};

/** Longer than any render. */
const longestTime = 24 * 3_600_000;

const timeOf = (text: Duration): number => {
  try {
    const time = milliseconds(text);
    if (time >= 1 && time <= longestTime) return time;
  } catch {
    // The same sentence as for a time that is too long.
  }
  throw new UsageError('--timeout must be a time such as 90s or 30m, at most 24h');
};
