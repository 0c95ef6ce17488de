/** The values of the chart: their schema, defaults, and the table that documents them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const chart = fileURLToPath(new URL('../../deploy/helm/sluice', import.meta.url));
export const readmeFile = join(chart, 'README.md');

export interface ValueSchema {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly additionalProperties?: boolean | ValueSchema;
}

export const valuesSchema = JSON.parse(
  readFileSync(join(chart, 'values.schema.json'), 'utf8'),
) as ValueSchema;
export const defaults = parse(readFileSync(join(chart, 'values.yaml'), 'utf8')) as Readonly<
  Record<string, unknown>
>;

interface Row {
  /** `gateway.data.size`. */
  readonly path: string;
  readonly description: string | undefined;
  readonly value: unknown;
}

/** Every value that is no group of others, in the order of the schema. */
export const rowsOf = (schema = valuesSchema, value: unknown = defaults, path = ''): readonly Row[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, below]) => {
    const here = path === '' ? name : `${path}.${name}`;
    const own = (value as Readonly<Record<string, unknown>> | undefined)?.[name];
    return below.properties === undefined
      ? [{ path: here, description: below.description, value: own }]
      : [
          ...(below.description === undefined ? [{ path: here, description: undefined, value: own }] : []),
          ...rowsOf(below, own, here),
        ];
  });

/** Helm's own, which is no value of this chart. */
const unlisted = 'global';

const [begin, end] = ['<!-- values -->', '<!-- /values -->'];

export const withTable = (readme: string): string => {
  const [before, after] = [readme.indexOf(begin), readme.indexOf(end)];
  if (before < 0 || after < before) throw new Error(`README.md of the chart has no ${begin} … ${end}`);
  const rows = rowsOf()
    .filter(({ path }) => path !== unlisted)
    .map(({ path, description, value }) => `| \`${path}\` | \`${JSON.stringify(value)}\` | ${description} |`);
  const table = ['| Value | Default | |', '|---|---|---|', ...rows].join('\n');
  return `${readme.slice(0, before + begin.length)}\n${table}\n${readme.slice(after)}`;
};
