/** The command line of `npm run bench`. */
import { parseArgs } from 'node:util';

export interface Options {
  readonly full: boolean;
  readonly peers: readonly string[];
  /** Scenario names to run; empty for all. */
  readonly only: readonly string[];
  readonly subjects: readonly string[];
  readonly rounds: number;
  readonly services: boolean;
  readonly scale: boolean;
  /** Whether the scenarios and routes run too. */
  readonly scenarios: boolean;
  readonly charts: boolean;
  /** Results to draw instead of a run. */
  readonly files: readonly string[];
  readonly json: string | undefined;
  readonly rows: string | undefined;
  readonly micro: boolean;
  readonly profile: boolean;
  readonly help: boolean;
}

export const usage = `npm run bench -- [options]
  --all              everything: scenarios with all peers, routes, services, scale, charts
  --full             longer windows, five rounds, every scenario in every round
  --peer name        also measure a peer: nginx, vllm-router, smg, portkey, litellm, or all; repeatable
  --only name        only this scenario; repeatable (routes/usage: only routes with this in their name)
  --subject name     only this subject; repeatable
  --rounds n         interleaved rounds (3; 5 with --full)
  --services         instead: with Redis, Kafka and ClickHouse, beside the embedded stores
  --scale            instead: from 1 to 5000 streams, and over several processes
  --charts           draw docs/charts/*.svg from this run
  --charts file.json draw them from the results of an earlier run
  --rows file.json   additional subjects; an existing name is replaced
  --json file        where to write the results (bench/results/<time>.json)
  --profile          a CPU profile per scenario and subject instead of the table
  --micro            the micro-benchmarks instead; --only selects by a part of the name
`;

export const readOptions = (args: readonly string[]): Options => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      all: { type: 'boolean', default: false },
      full: { type: 'boolean', default: false },
      peer: { type: 'string', multiple: true, default: [] },
      only: { type: 'string', multiple: true, default: [] },
      subject: { type: 'string', multiple: true, default: [] },
      rounds: { type: 'string' },
      services: { type: 'boolean', default: false },
      scale: { type: 'boolean', default: false },
      charts: { type: 'boolean', default: false },
      json: { type: 'string' },
      rows: { type: 'string' },
      profile: { type: 'boolean', default: false },
      micro: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const rounds = Number(values.rounds ?? (values.full ? 5 : 3));
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 100) throw new Error('--rounds takes 1 to 100');
  if (positionals.length > 0 && !values.charts)
    throw new Error(`unexpected ${positionals[0]}: only --charts takes files`);
  return {
    full: values.full,
    peers: values.all ? ['all'] : values.peer,
    only: values.only,
    subjects: values.subject,
    rounds,
    services: values.services || values.all,
    scale: values.scale || values.all,
    scenarios: values.all || !(values.services || values.scale),
    charts: values.charts || values.all,
    files: positionals,
    json: values.json,
    rows: values.rows,
    micro: values.micro,
    profile: values.profile,
    help: values.help,
  };
};
