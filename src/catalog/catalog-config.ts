/** What a configuration gives once it is read and checked: engines as rows, models with every default, default models. */
import type { Model, ModelKind } from '../../schemas/catalog.ts';
import type { EngineRow } from '../../schemas/engines.ts';

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
