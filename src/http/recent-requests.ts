/** The requests that ended last, in columns that are written over: none is allocated for a request. */
import type { EndedRequest } from '../ports/live.ts';
import type { HttpExchange } from './http-exchange.ts';

/** Requests that are kept. */
const usualSize = 1_024;
const textColumns = 8;
const numberColumns = 6;

export class RecentRequests {
  readonly #size: number;
  #count = 0;
  /** Fixed texts and those of records: nothing is copied. */
  readonly #texts: (string | null)[];
  readonly #numbers: Float64Array;

  constructor(size = usualSize) {
    this.#size = size;
    this.#texts = new Array<string | null>(size * textColumns).fill(null);
    this.#numbers = new Float64Array(size * numberColumns);
  }

  add(exchange: HttpExchange, status: number, begun: number, cut: string | undefined): void {
    const { served, caller } = exchange;
    const usage = served?.usage;
    const place = this.#count++ % this.#size;
    const texts = this.#texts;
    let at = place * textColumns;
    texts[at++] = exchange.id;
    texts[at++] = exchange.method;
    texts[at++] = exchange.route?.path ?? null;
    texts[at++] = cut ?? null;
    texts[at++] = usage?.model ?? served?.model ?? exchange.queuedFor ?? null;
    texts[at++] = caller?.subscription ?? null;
    texts[at++] = caller?.key ?? null;
    texts[at] = usage?.cost ?? null;
    const numbers = this.#numbers;
    at = place * numberColumns;
    const now = performance.now();
    // One look at the clock: who asks for it works out the time of day.
    numbers[at++] = now;
    numbers[at++] = status;
    numbers[at++] = now - begun;
    numbers[at++] = served === undefined ? 0 : served.lease.waited + served.queuedMs;
    numbers[at++] = usage?.quantities.prompt_tokens ?? 0;
    numbers[at] = usage?.quantities.completion_tokens ?? 0;
  }

  after(count: number): { readonly ended: readonly EndedRequest[]; readonly count: number } {
    const ended: EndedRequest[] = [];
    for (let each = Math.max(count, this.#count - this.#size, 0); each < this.#count; each++)
      ended.push(this.#read(each % this.#size));
    return { ended, count: this.#count };
  }

  #read(place: number): EndedRequest {
    const [id, method, route = null, cut = null, model = null, subscription = null, key = null, cost = null] =
      this.#texts.slice(place * textColumns, (place + 1) * textColumns);
    const [ended = 0, status = 0, total = 0, queue = 0, prompt = 0, completion = 0] = this.#numbers.subarray(
      place * numberColumns,
      (place + 1) * numberColumns,
    );
    return {
      ...{
        id: id ?? '',
        time: Math.round(Date.now() - performance.now() + ended),
        method: method ?? '',
        route,
        status,
        cut,
        model,
        subscription,
        key,
      },
      queue_ms: Math.round(queue),
      total_ms: Math.round(total),
      prompt_tokens: prompt,
      completion_tokens: completion,
      cost,
    };
  }
}
