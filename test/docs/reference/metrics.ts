/** The reference of metrics: types and texts from the registry of a running gateway, labels from the operations guide. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { everyFamily } from '../../admin/every-family.ts';
import { root } from '../markdown.ts';
import { code, joined, opening, plain, table } from './page.ts';

/** `sluice_operations_total{route,model}` → its labels, as the guide writes them. */
const labelsOf = (guide: string): ReadonlyMap<string, readonly string[]> =>
  new Map(
    [...guide.matchAll(/`((?:sluice|process|nodejs)_\w+)\{([\w,]+)\}`/g)].map(
      ([, name = '', labels = '']) => [name, labels.split(',')],
    ),
  );

export const metricsPage = async (): Promise<string> => {
  const labels = labelsOf(readFileSync(join(root, 'docs/operations.md'), 'utf8'));
  const families = [...(await everyFamily())].sort((one, other) => (one.name < other.name ? -1 : 1));
  return joined([
    opening(
      'Metrics',
      '`GET /metrics` on the admin port returns these metric families in the format of Prometheus. With `serve --processes` every sample has the label `process` as well. The [operations guide](../operations.md#monitoring) says which of them to watch and has a dashboard and alerts.',
      'the registry of a running gateway',
    ),
    table(
      ['Metric', 'Type', 'Labels', ''],
      families.map(({ name, type, help }) => [
        code(name),
        type,
        labels.get(name)?.map(code).join(', ') ?? '–',
        plain(help),
      ]),
    ),
  ]);
};
