/** The reference of `sluice.yaml`, from its schema and the defaults that the gateway fills in. */
import { ModelKind, ModelRow } from '../../../schemas/catalog.ts';
import { ConfigFile } from '../../../schemas/config-file.ts';
import { EngineRow } from '../../../schemas/engines.ts';
import { SIMULATOR } from '../../../schemas/simulator.ts';
import { kindDefaults } from '../../../src/catalog/kind-defaults.ts';
import { resolveRow } from '../../../src/catalog/resolve-row.ts';
import { effectiveRow } from '../../../src/engines/effective-row.ts';
import { describe, type Field, fieldsOf, type Schema, typeOf } from './fields.ts';
import { code, joined, opening, table } from './page.ts';

const example = { wire: 'openai', replicas: ['http://10.0.0.5:8000/v1'], probe: { path: '/' } };
/** The fields that have no default, as the examples have them. */
const given = ['wire', 'replicas', 'probe.path', 'engine'];

/** `timeouts.connect` of a row whose defaults are filled in. */
const valueAt = (row: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], row);

const shown = (value: unknown): string => {
  if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) return '–';
  return typeof value === 'object' ? code(JSON.stringify(value)) : code(String(value));
};

const engineDefaults = effectiveRow(example);
const modelDefaults = resolveRow('<the id>', { engine: 'pool' });
/** Of `chat` in the row; the table of kinds has those of the others. */
const byKind = [
  'input_modalities',
  'output_modalities',
  'supported_parameters',
  'limits.concurrency',
  'limits.requests_per_minute',
];

const rows = (fields: readonly Field[], defaultOf: (path: string) => string): string =>
  table(
    ['Field', 'Type', 'Default', ''],
    fields.map(({ path, schema, required }) => [
      code(path),
      typeOf(schema),
      required ? 'required' : defaultOf(path),
      describe(schema),
    ]),
  );

const engineDefault = (path: string): string =>
  given.includes(path) ? '–' : shown(leaf(valueAt(engineDefaults, path)));
const modelDefault = (path: string): string => {
  if (byKind.includes(path)) return '[by kind](#defaults-by-kind)';
  return given.includes(path) ? '–' : shown(leaf(valueAt(modelDefaults, path)));
};
/** The default of an object is that of its fields. */
const leaf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? undefined : value;

const below = (fields: readonly Field[], group: string): readonly Field[] =>
  fields.filter(({ path }) => path.startsWith(`${group}.`));

export const catalogPage = (): string => {
  const engine = fieldsOf(EngineRow as unknown as Schema, { deepest: 3 });
  const model = fieldsOf(ModelRow as unknown as Schema, { deepest: 6 });
  const capabilities = below(model, 'capabilities');
  const undescribed = [...engine, ...model].filter(
    ({ path, schema }) => (schema.description ?? '') === '' && !path.startsWith('capabilities.'),
  );
  if (undescribed.length > 0)
    throw new Error(`fields without a description: ${undescribed.map(({ path }) => path).join(', ')}`);
  const top = fieldsOf(ConfigFile as unknown as Schema, { deepest: 1 });
  return joined([
    opening(
      'sluice.yaml',
      'Every field of the file that lists engines and models, with its default. The gateway validates the file at the start and on every change; an invalid file is rejected with line and field, and the previous one stays in effect. The [engines guide](../engines.md) has complete configurations, and [`sluice.example.yaml`](../../sluice.example.yaml) shows the common fields.',
      'the schemas and the defaults of the code',
    ),
    '## The file',
    rows(top, () => '–'),
    `## Engines\n\nRows under \`engines\`, by name. The engine \`${SIMULATOR}\` is built in and needs no row.`,
    rows(engine, engineDefault),
    '## Models\n\nRows under `models`, by id.',
    rows(
      model.filter((field) => !capabilities.includes(field)),
      modelDefault,
    ),
    '## Capabilities\n\n`capabilities` of a model: what it can do, and how its engine is called. A row may have those of its own kind.',
    rows(capabilities, () => '–'),
    '## Defaults by kind',
    table(
      ['`kind`', 'Input', 'Output', 'Concurrency', 'Requests per minute', '`supported_parameters`'],
      (ModelKind as unknown as { enum: (keyof typeof kindDefaults)[] }).enum.map((kind) => {
        const { input_modalities, output_modalities, supported_parameters, limits } = kindDefaults[kind];
        return [
          code(kind),
          input_modalities.join(', '),
          output_modalities.join(', '),
          String(limits.concurrency),
          String(limits.requests_per_minute),
          supported_parameters.map(code).join(', '),
        ];
      }),
    ),
  ]);
};
