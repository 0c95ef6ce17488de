/** Counts requests that were handed over to a fallback of their model. */
import type { FallbackReason } from '../../errors.ts';

export interface Fallbacks {
  /** Ids of models of the catalog. */
  count(from: string, to: string, reason: FallbackReason): void;
}
