/** Builds the lookups of models that requests use from a configuration and its served models. */
import type { Model, ModelKind } from '../../schemas/catalog.ts';
import type { EngineRow } from '../../schemas/engines.ts';
import { imageSpecOf } from '../images/spec.ts';
import { validMusicSpec } from '../music/spec.ts';
import type { ResolvedModel } from '../ports/catalog.ts';
import { validVideoSpec } from '../video/spec.ts';
import { aliasPrefix } from './model-names.ts';

/** A checked configuration: engines as rows, models with every default, default models. */
export interface CatalogConfig {
  /** Rows by name; the built-in `simulator` needs none. */
  readonly engines: Readonly<Record<string, EngineRow>>;
  /** In the order they are written: the order of every list. */
  readonly models: readonly Model[];
  /** Ids of the models used when a request names none; the first served one of a kind where a kind is missing. */
  readonly defaults: Readonly<Partial<Record<ModelKind, string>>>;
  /** File that names the models deployed right now; undefined: all rows are. */
  readonly servedList: string | undefined;
}

/** Ids that are deployed now; undefined: every row. */
export type ServedIds = ReadonlySet<string> | undefined;

export interface ModelIndex {
  /** Served and of use, in catalog order. */
  readonly inService: readonly Model[];
  /** In service and public, in catalog order. */
  readonly listed: readonly Model[];
  /** In service, by exact id. */
  readonly byId: ReadonlyMap<string, Model>;
  /** Served, by every name a request may use but for suffixes: own, former and aliased ids. */
  readonly byName: ReadonlyMap<string, ResolvedModel>;
  readonly defaults: ReadonlyMap<ModelKind, ResolvedModel>;
  /** Listed, by Hugging Face id in lower case; the first row wins where two serve the same weights. */
  readonly byHuggingFaceId: ReadonlyMap<string, Model>;
  /** Listed, by the id without its author; undefined where two authors have one of that name. */
  readonly bySlug: ReadonlyMap<string, Model | undefined>;
}

export const indexModels = (config: CatalogConfig, served: ServedIds): ModelIndex => {
  const models = config.models.filter(
    (model) => model.served && (served === undefined || served.has(model.id)),
  );
  const inService = models.filter(hasRules);
  const listed = inService.filter((model) => !model.private);
  return {
    inService,
    listed,
    byId: new Map(inService.map((model) => [model.id, model])),
    byName: names(models),
    defaults: defaults(config, models),
    byHuggingFaceId: huggingFaceIds(listed),
    bySlug: slugs(listed),
  };
};

const specs: Partial<Record<ModelKind, (model: Model) => unknown>> = {
  image: imageSpecOf,
  video: validVideoSpec,
  music: validMusicSpec,
};

/** A model of these kinds without a valid capability spec cannot be used: it is listed nowhere, and requests for it get an error that says why. */
const hasRules = (model: Model): boolean => {
  const specOf = specs[model.kind];
  return specOf === undefined || specOf(model) !== undefined;
};

const names = (models: readonly Model[]): Map<string, ResolvedModel> => {
  const byName = new Map<string, ResolvedModel>();
  for (const model of models) {
    const resolved: ResolvedModel = { model, variant: undefined };
    for (const name of [model.id, ...model.legacy_ids]) {
      byName.set(name, resolved);
      byName.set(aliasPrefix + name, resolved);
    }
  }
  return byName;
};

const defaults = (config: CatalogConfig, models: readonly Model[]): Map<ModelKind, ResolvedModel> => {
  const byId = new Map(models.map((model) => [model.id, model]));
  const chosen = new Map<ModelKind, ResolvedModel>();
  for (const candidate of models) {
    if (chosen.has(candidate.kind)) continue;
    const model = byId.get(config.defaults[candidate.kind] ?? '') ?? candidate;
    if (model !== candidate || !candidate.private) chosen.set(candidate.kind, { model, variant: undefined });
  }
  return chosen;
};

const huggingFaceIds = (models: readonly Model[]): Map<string, Model> => {
  const found = new Map<string, Model>();
  for (const model of models) {
    const id = model.hugging_face_id?.toLowerCase();
    if (id !== undefined && !found.has(id)) found.set(id, model);
  }
  return found;
};

const slugs = (models: readonly Model[]): Map<string, Model | undefined> => {
  const found = new Map<string, Model | undefined>();
  for (const model of models) {
    const slug = model.id.slice(model.id.indexOf('/') + 1);
    found.set(slug, found.has(slug) ? undefined : model);
  }
  return found;
};
