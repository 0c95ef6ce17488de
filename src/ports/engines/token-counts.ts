/** Counts tokens that an engine generated and did not count. */
import type { Observable } from 'rxjs';
import type { Model } from '../../../schemas/catalog.ts';

export interface TokenCounts {
  /**
   * Tokens of texts that came in so many pieces, by the model's tokenizer and what earlier responses have taught of it.
   * Never errors: what cannot be counted is estimated. Synchronous where that takes no time.
   */
  count(model: Model, generated: Generated): Observable<number>;
  /** Tokens of texts that were generated elsewhere, such as a prompt. Never errors either. */
  countTexts(model: Model, texts: readonly string[]): Observable<number>;
  /** Whether the next finished response of the model should be learnt from: its text is kept. */
  learns(model: Model): boolean;
  /** The engine counted `tokens` in them. */
  learn(model: Model, generated: Generated, tokens: number): void;
}

export interface Generated {
  readonly texts: readonly string[];
  /** How many times as much was generated as the texts hold. */
  readonly scale: number;
  readonly pieces: number;
}
