/** The Catalog port over a checked configuration that can be replaced while requests run. */
import type { Model, ModelKind } from '../../schemas/catalog.ts';
import { type ApiError, type ErrorKind, fail } from '../errors.ts';
import type { Catalog, ModelScope, ResolvedModel } from '../ports/catalog.ts';
import { type CatalogConfig, indexModels, type ModelIndex, type ServedIds } from './model-index.ts';
import { parseName } from './model-names.ts';

/**
 * Two things can be lost while the gateway runs, and they cost different things.
 * The catalog file: what it said last is still in memory, so models go on being served, but nobody can say
 * that it is still what the operator wants to publish; catalog answers are 502 until it can be read again.
 * The served list: nothing is known about what is deployed, so every use of a model is 503 until it is back.
 */
export interface LiveCatalog extends Catalog {
  /** Both are known again. Requests that already hold a model keep it. */
  replace(config: CatalogConfig, served?: ServedIds): void;
  loseFile(): void;
  loseServedList(): void;
}

export const createCatalog = (config: CatalogConfig, served?: ServedIds): LiveCatalog => {
  let index: ModelIndex | undefined = indexModels(config, served);
  let fileLost = false;

  const known = (): ModelIndex => {
    if (index === undefined)
      throw fail('unavailable', 'The list of served models cannot be read at the moment; retry');
    return index;
  };
  const published = (): ModelIndex => {
    if (fileLost) throw fail('engine_unreachable', 'The model catalog cannot be read at the moment; retry');
    return known();
  };

  return {
    list: () => published().listed,
    inService: () => index?.inService ?? [],
    find: (id) => known().byId.get(id),
    findPublic: (author, slug) => findPublic(published(), author, slug),
    resolve: (id, kind, refusal = 'not_found', scope) => resolve(known(), id, kind, refusal, scope),
    replace: (next, nextServed) => {
      index = indexModels(next, nextServed);
      fileLost = false;
    },
    loseFile: () => {
      fileLost = true;
    },
    loseServedList: () => {
      index = undefined;
    },
  };
};

const resolve = (
  index: ModelIndex,
  id: string | undefined,
  kind: ModelKind | readonly ModelKind[],
  refusal: ErrorKind,
  scope: ModelScope | undefined,
): ResolvedModel => {
  const found =
    id === undefined ? index.defaults.get(firstOf(kind)) : (index.byName.get(id) ?? withSuffixes(index, id));
  if (found === undefined || scope?.allowsModel(found.model.id) === false)
    throw unknownModel(id, firstOf(kind));
  const fits = typeof kind === 'string' ? found.model.kind === kind : kind.includes(found.model.kind);
  if (!fits) throw otherKind(found.model, kind, refusal);
  return found;
};

const firstOf = (kind: ModelKind | readonly ModelKind[]): ModelKind =>
  typeof kind === 'string' ? kind : (kind[0] ?? 'chat');

const withSuffixes = (index: ModelIndex, id: string): ResolvedModel | undefined => {
  const { name, variant } = parseName(id);
  const found = index.byName.get(name);
  return found === undefined || variant === undefined ? found : { model: found.model, variant };
};

const unknownModel = (id: string | undefined, kind: ModelKind): ApiError =>
  id === undefined
    ? fail('not_found', `No model was named and there is no default ${kind} model`)
    : fail('not_found', `No model named "${id.length > 200 ? `${id.slice(0, 200)}…` : id}"`);

const otherKind = (model: Model, kind: ModelKind | readonly ModelKind[], refusal: ErrorKind): ApiError =>
  fail(
    refusal,
    `"${model.id}" is of kind ${model.kind}; this route takes models of kind ${typeof kind === 'string' ? kind : kind.join(', ')}`,
  );

/** Any author will do. The id in full comes first, so that of two models with one slug the author's own is found. */
const findPublic = (index: ModelIndex, author: string, slug: string): Model | undefined => {
  const { name } = parseName(slug);
  for (const id of [`${author}/${slug}`, `${author}/${name}`, slug, name]) {
    const found = index.byName.get(id)?.model ?? index.byHuggingFaceId.get(id.toLowerCase());
    if (found !== undefined && !found.private && index.byId.has(found.id)) return found;
  }
  return index.bySlug.get(name);
};
