/** `sluice models`: the models of the catalog file, or those that a gateway serves. */
import { loadConfig } from '../config.ts';
import { type Command, type Input, json } from './command.ts';
import { printJson, printTable } from './output.ts';
import { GatewayClient } from './remote/gateway-client.ts';
import { gatewayOf, targetOptions } from './remote/target.ts';

export interface ListedModel {
  readonly id: string;
  readonly kind: string;
  readonly engine: string;
  readonly context_length?: number;
  readonly pricing: { readonly prompt: string; readonly completion: string };
  /** Only a running gateway knows. */
  readonly health?: string;
}

export const listedModels = async (input: Input): Promise<readonly ListedModel[]> => {
  const gateway = gatewayOf(input);
  const found =
    gateway === undefined ? await ofFile() : await new GatewayClient(gateway).all<ListedModel>('/models');
  return found.map(({ id, kind, engine, context_length, pricing, health }) => ({
    ...{ id, kind, engine, pricing },
    ...(context_length === undefined ? {} : { context_length }),
    ...(health === undefined ? {} : { health }),
  }));
};

/** Loaded here: it takes half a second, which every other command would wait for. */
const ofFile = async (): Promise<readonly ListedModel[]> => {
  const { configFile } = loadConfig();
  if (configFile === undefined) return (await import('../catalog/default-catalog.ts')).defaultCatalog.models;
  return (await import('./config.ts')).readCatalog(configFile).models;
};

export const models: Command = {
  name: 'models',
  summary: 'show the models of the catalog file, or those that a gateway serves',
  options: { json, ...targetOptions },
  run: async (input) => {
    const found = await listedModels(input);
    if (input.given('json')) return printJson(found);
    const hasHealth = found.some(({ health }) => health !== undefined);
    printTable(
      ['MODEL', 'KIND', 'ENGINE', ...(hasHealth ? ['HEALTH'] : []), 'CONTEXT', 'USD PER UNIT IN', 'OUT'],
      found.map(({ id, kind, engine, health = '', context_length, pricing }) => [
        ...[id, kind, engine, ...(hasHealth ? [health] : [])],
        ...[String(context_length ?? ''), pricing.prompt, pricing.completion],
      ]),
    );
  },
};
