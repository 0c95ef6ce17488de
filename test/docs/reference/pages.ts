/** Every generated page of the reference, by its path in the repository. */
import { apiPages, readDocument } from './api.ts';
import { catalogPage } from './catalog.ts';
import { cliPage } from './cli.ts';
import { errorsPage } from './errors.ts';
import { metricsPage } from './metrics.ts';
import { configurationPage } from './settings.ts';

const folder = 'docs/reference';

export const referencePages = async (): Promise<ReadonlyMap<string, string>> =>
  new Map([
    [`${folder}/configuration.md`, configurationPage()],
    [`${folder}/sluice-yaml.md`, catalogPage()],
    [`${folder}/cli.md`, cliPage()],
    [`${folder}/metrics.md`, await metricsPage()],
    [`${folder}/errors.md`, errorsPage()],
    ...[...apiPages(await readDocument())].map(([name, text]) => [`${folder}/api/${name}`, text] as const),
  ]);
