/** Builds a `sluice.yaml` for a running server from the rows that docs/engines.md shows for it. */
import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import type { ModelRole, ModelServer } from './server.ts';

type Row = Record<string, unknown>;
interface Catalog {
  readonly engines: Readonly<Record<string, Row>>;
  readonly models: Readonly<Record<string, Row>>;
}

const page = new URL('../../docs/engines.md', import.meta.url);

/** The first configuration below a heading of the guide. */
export const guideRows = (heading: string, text = readFileSync(page, 'utf8')): Catalog => {
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`));
  const yaml = /^```yaml\n([\s\S]*?)^```$/m.exec(section ?? '')?.[1];
  if (yaml === undefined) throw new Error(`docs/engines.md has no configuration below ${heading}`);
  return parse(yaml) as Catalog;
};

/** Whether its row lets another replica go on with a stream. */
export const continuesStreams = ({ guide: heading }: Pick<ModelServer, 'guide'>): boolean => {
  const guide = guideRows(heading);
  return engineOf(guide, modelNamed(guide, 'writer')).continues === true;
};

export interface Addresses {
  readonly writer: readonly string[];
  readonly search: readonly string[];
}

/** Ids of the models of the checks. */
export const modelIds = {
  writer: 'toy/writer',
  search: 'toy/search',
  /** A window larger than the server's: the server refuses. */
  wide: 'toy/wide',
  /** Through the Messages API of the server. */
  messages: 'toy/messages',
  /** With a key that the server does not know. */
  locked: 'toy/locked',
  /** On the same replicas, balanced by load alone. */
  leastBusy: 'toy/least-busy',
  decide: 'toy/decide',
  rerank: 'toy/rerank',
} as const;

const pricing = { prompt: '0.000001', completion: '0.000002' };
/** Of models that generate nothing. */
const inputPricing = { prompt: pricing.prompt };

/** Rows as the guide has them, with the addresses, windows and prices of this run. */
export const configOf = (server: ModelServer, { writer, search }: Addresses): string => {
  const { traits, window } = server;
  const guide = guideRows(server.guide);
  const written = modelNamed(guide, 'writer');
  const sought = modelNamed(guide, 'search');
  const chatEngine = engineOf(guide, written);
  const at = (row: Row, addresses: readonly string[]): Row => ({
    ...row,
    replicas: addresses.map((origin) => `${origin}/v1`),
    ...(row.key_env === undefined ? {} : { key_env: 'TOY_KEY' }),
  });
  const chatRow = {
    ...at(chatEngine, writer),
    ...(traits.tokenizer === undefined ? {} : { tokenizer_api: traits.tokenizer }),
  };
  const chat: Row = {
    ...written,
    engine: 'toy',
    context_length: window,
    pricing,
    // The toy thinks when it is told to, and the checks tell it.
    ...(written.reasoning === undefined
      ? {}
      : { reasoning: { ...(written.reasoning as Row), default_enabled: false } }),
  };
  const embed = {
    ...sought,
    engine: 'toy-search',
    context_length: 512,
    pricing: inputPricing,
    capabilities: { embedding: { ...embeddingOf(sought), dimensions: 512 } },
  };
  const engines: Record<string, Row> = {
    toy: chatRow,
    'toy-locked': { ...chatRow, key_env: 'WRONG_KEY' },
    'toy-search': at(engineOf(guide, sought), search),
  };
  const models: Record<string, Row> = {
    [modelIds.writer]: chat,
    [modelIds.wide]: { ...chat, context_length: window * 8 },
    [modelIds.search]: embed,
  };
  if (traits.prefixCache) {
    engines['toy-least-busy'] = { ...chatRow, balance: 'least-busy' };
    models[modelIds.leastBusy] = { ...chat, engine: 'toy-least-busy' };
  }
  if (traits.keys) models[modelIds.locked] = { ...chat, engine: 'toy-locked' };
  if (traits.decisions)
    models[modelIds.decide] = {
      kind: 'decision',
      engine: 'toy',
      served_as: 'writer',
      context_length: window,
      pricing: inputPricing,
    };
  if (traits.rerank)
    models[modelIds.rerank] = {
      kind: 'rerank',
      engine: 'toy-search',
      served_as: 'search',
      context_length: 512,
      pricing: inputPricing,
    };
  if (traits.messagesEngine !== undefined) {
    const rows = guideRows('Engines of the Messages API');
    const engine = rows.engines[traits.messagesEngine];
    const model = Object.values(rows.models).find((row) => row.engine === traits.messagesEngine);
    if (engine === undefined || model === undefined)
      throw new Error(`docs/engines.md has no ${traits.messagesEngine}`);
    engines['toy-messages'] = at(engine, writer);
    models[modelIds.messages] = {
      ...model,
      engine: 'toy-messages',
      served_as: 'writer',
      context_length: window,
      pricing,
      ...(model.reasoning === undefined
        ? {}
        : { reasoning: { ...(model.reasoning as Row), default_enabled: false } }),
    };
  }
  return stringify({ engines, models });
};

const modelNamed = ({ models }: Catalog, served: ModelRole): Row => {
  const row = Object.values(models).find(({ served_as }) => served_as === served);
  if (row === undefined) throw new Error(`the configuration has no model that is served as ${served}`);
  return row;
};

const engineOf = ({ engines }: Catalog, { engine }: Row): Row => {
  const row = engines[String(engine)];
  if (row === undefined) throw new Error(`the configuration has no engine ${String(engine)}`);
  return row;
};

const embeddingOf = ({ capabilities }: Row): Row =>
  (capabilities as { embedding?: Row } | undefined)?.embedding ?? {};
