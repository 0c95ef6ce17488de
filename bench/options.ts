/** The command line of `npm run bench`. */
import { parseArgs } from 'node:util';

export interface Options {
  readonly full: boolean;
  readonly peers: readonly string[];
  /** Scenario names to run; empty for all. */
  readonly only: readonly string[];
  readonly subjects: readonly string[];
  readonly rounds: number;
  readonly json: string | undefined;
  readonly rows: string | undefined;
  readonly micro: boolean;
  readonly profile: boolean;
  readonly help: boolean;
}

export const usage = `npm run bench -- [options]
  --full             longer windows, five rounds, every scenario in every round
  --peer name        also measure a peer of bench/subjects.json (portkey); repeatable
  --only name        only this scenario; repeatable (routes/usage: only routes with this in their name)
  --subject name     only this subject; repeatable
  --rounds n         interleaved rounds (3; 5 with --full)
  --rows file.json   additional subjects; an existing name is replaced
  --json file        where to write the results (bench/results/<time>.json)
  --profile          a CPU profile per scenario and subject instead of the table
  --micro            the micro-benchmarks instead; --only selects by a part of the name
`;

export const readOptions = (args: readonly string[]): Options => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      full: { type: 'boolean', default: false },
      peer: { type: 'string', multiple: true, default: [] },
      only: { type: 'string', multiple: true, default: [] },
      subject: { type: 'string', multiple: true, default: [] },
      rounds: { type: 'string' },
      json: { type: 'string' },
      rows: { type: 'string' },
      profile: { type: 'boolean', default: false },
      micro: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const rounds = Number(values.rounds ?? (values.full ? 5 : 3));
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 100) throw new Error('--rounds takes 1 to 100');
  return {
    full: values.full,
    peers: values.peer,
    only: values.only,
    subjects: values.subject,
    rounds,
    json: values.json,
    rows: values.rows,
    micro: values.micro,
    profile: values.profile,
    help: values.help,
  };
};
