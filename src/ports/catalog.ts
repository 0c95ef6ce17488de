/** The models on offer, as the current configuration has them. */
import type { Model, ModelKind } from '../../schemas/catalog.ts';
import type { ErrorKind } from '../errors.ts';

export interface ResolvedModel {
  readonly model: Model;
  /** `express` of `author/name:express`; undefined without a variant. */
  readonly variant: string | undefined;
}

/** Models that a caller may use. */
export interface ModelScope {
  allowsModel(id: string): boolean;
}

export interface Catalog {
  /** Served models in catalog order, private ones left out. Throws `engine_unreachable` (502) when the catalog cannot be read, `unavailable` (503) when the served-model list cannot. */
  list(): readonly Model[];
  /** Those that requests are answered by, private ones too, also while the catalog cannot be read; none while the served-model list cannot. */
  inService(): readonly Model[];
  /**
   * The model a request names: `anthropic/` alias prefix, `-normalize` and `:variant` suffixes and legacy ids understood.
   * Throws `not_found` for an unknown or unserved id, and for a model of another kind, whose message says which it is.
   * Undefined id: the default model of that kind, or of the first. `otherKind`: what a model of another kind is refused with instead. A model outside `scope` is
   * unknown.
   */
  resolve(
    id: string | undefined,
    kind: ModelKind | readonly ModelKind[],
    otherKind?: ErrorKind,
    scope?: ModelScope,
  ): ResolvedModel;
  /** By exact id, served, private ones included, also while the catalog cannot be read; undefined otherwise. Throws `unavailable` (503) while the served-model list cannot be read. */
  find(id: string): Model | undefined;
  /** By id, id with a slash, Hugging Face id in any case, or legacy id; public ones only; variants ignored. */
  findPublic(author: string, slug: string): Model | undefined;
}
