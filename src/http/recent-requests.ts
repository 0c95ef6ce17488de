/** The requests that ended last, in columns that are written over: none is allocated for a request. */
import { type EndedRequest, firstTokenOf, timelineOf } from '../ports/live.ts';
import type { HttpExchange } from './http-exchange.ts';

/** Requests that are kept. */
const usualSize = 1_024;
const textColumns = 9;
const numberColumns = 15;

/** What the writer of its response knows of it. */
interface Written {
  readonly status: number;
  readonly begun: number;
  readonly headAt: number;
}

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

  add(exchange: HttpExchange, { status, begun, headAt }: Written, cut: string | undefined): void {
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
    texts[at++] = usage?.cost ?? null;
    texts[at] = served?.replica || null;
    const numbers = this.#numbers;
    at = place * numberColumns;
    // One look at the clock: who asks for it works out the time of day, and times since the start.
    numbers[at++] = performance.now();
    numbers[at++] = begun;
    numbers[at++] = status;
    numbers[at++] = served === undefined ? 0 : served.lease.waited + served.queuedMs;
    numbers[at++] = usage?.quantities.prompt_tokens ?? 0;
    numbers[at++] = usage?.quantities.completion_tokens ?? 0;
    numbers[at++] = served?.attempts ?? 0;
    numbers[at++] = served?.continuations ?? 0;
    numbers[at++] = exchange.received;
    numbers[at++] = headAt;
    numbers[at++] = served?.admittedAt ?? 0;
    numbers[at++] = served?.calledAt ?? 0;
    numbers[at++] = served?.answeredAt ?? 0;
    numbers[at++] = firstTokenOf(served);
    numbers[at] = served?.billedAt ?? 0;
  }

  after(count: number): { readonly ended: readonly EndedRequest[]; readonly count: number } {
    const ended: EndedRequest[] = [];
    for (let each = Math.max(count, this.#count - this.#size, 0); each < this.#count; each++)
      ended.push(this.#read(each % this.#size));
    return { ended, count: this.#count };
  }

  #read(place: number): EndedRequest {
    const [id, method, route, cut, model, subscription, key, cost, replica] = this.#texts.slice(
      place * textColumns,
      (place + 1) * textColumns,
    );
    const numbers = this.#numbers.subarray(place * numberColumns, (place + 1) * numberColumns);
    const [endedAt = 0, begun = 0, status = 0, queue = 0, prompt = 0, completion = 0] = numbers;
    const [attempts = 0, continuations = 0, received = 0, headAt = 0] = numbers.subarray(6);
    const [admittedAt = 0, calledAt = 0, answeredAt = 0, firstTokenAt = 0, billedAt = 0] =
      numbers.subarray(10);
    const timeline = timelineOf(
      { begun, received, headAt, endedAt },
      { admittedAt, calledAt, answeredAt, firstTokenAt, billedAt },
    );
    return {
      ...{ id: id ?? '', time: Math.round(Date.now() - performance.now() + endedAt), method: method ?? '' },
      ...{ route: route ?? null, status, cut: cut ?? null, model: model ?? null },
      ...{ subscription: subscription ?? null, key: key ?? null, replica: replica ?? null },
      ...{ attempts, continuations, queue_ms: Math.round(queue), first_token_ms: timeline.first_token },
      ...{ total_ms: Math.round(endedAt - begun), timeline },
      ...{ prompt_tokens: prompt, completion_tokens: completion, cost: cost ?? null },
    };
  }
}
