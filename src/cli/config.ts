/** `sluice config check`: what is wrong with the settings and the catalog file, without starting anything. */
import { defaultCatalog } from '../catalog/default-catalog.ts';
import { loadCatalogFile } from '../catalog/load.ts';
import type { CatalogConfig } from '../catalog/model-index.ts';
import { CatalogFileError } from '../catalog/problems.ts';
import { loadConfig } from '../config.ts';
import { type Command, json } from './command.ts';
import { print, printJson, remark } from './output.ts';

const check: Command = {
  name: 'config check',
  operands: '[FILE]',
  arity: [0, 1],
  summary: 'check the settings and the catalog file, and name every mistake',
  details: 'FILE is a sluice.yaml; without it the one that `sluice serve` would read.',
  options: { json },
  run: async (input) => {
    const { configFile } = loadConfig();
    const file = input.operands[0] ?? configFile;
    const { models, engines } = file === undefined ? defaultCatalog : readCatalog(file);
    if (input.given('json'))
      return printJson({
        file: file ?? null,
        models: models.length,
        engines: Object.keys(engines).length,
      });
    if (file === undefined)
      return print('The settings are valid. There is no sluice.yaml: the default catalog is used.');
    print(
      `The settings and ${file} are valid: ${count(models.length, 'model')}, ${count(Object.keys(engines).length, 'engine')}.`,
    );
  },
};

/** All mistakes are printed, not only the first. */
export const readCatalog = (file: string): CatalogConfig => {
  try {
    return loadCatalogFile(file);
  } catch (error) {
    if (!(error instanceof CatalogFileError)) throw error;
    for (const problem of error.problems) remark(problem);
    throw new Error(`${file} has ${count(error.problems.length, 'mistake')}`, { cause: error });
  }
};

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

export const config: readonly Command[] = [check];
