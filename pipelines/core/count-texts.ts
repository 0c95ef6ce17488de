/** Counts or cuts texts by tokens: inline when they are short, else on a thread. */
import { defer, type Observable, of } from 'rxjs';
import { type Offload, offloaded } from '../../src/ports/offload.ts';
import { countTokens } from '../../src/tokens/count.ts';
import { cutTokens } from '../../src/tokens/cut.ts';
import { lengthOf } from '../../src/tokens/prompt.ts';

/** Characters: counting them blocks the event loop for about a millisecond. */
const inlineLength = 4096;

export const countTexts = (
  offload: Offload,
  texts: readonly string[],
  tokenizer: string,
): Observable<number> =>
  lengthOf(texts) <= inlineLength
    ? defer(() => of(countTokens(texts, tokenizer)))
    : offloaded((signal) => offload.countTokens(texts, tokenizer, signal));

export const cutTexts = (
  offload: Offload,
  texts: readonly string[],
  tokenizer: string,
  limit: number,
): Observable<readonly string[]> =>
  lengthOf(texts) <= inlineLength
    ? defer(() => of(cutTokens(texts, tokenizer, limit)))
    : offloaded((signal) => offload.cutTokens(texts, tokenizer, limit, signal));
