/** A response as it streams: what was read of it, its raw events with their times, and its speed. */
import { ApiError } from '../../api/http.ts';
import { readEvents, type ServerEvent } from '../../api/sse.ts';
import type { Call } from '../call.ts';
import { send } from '../send.ts';
import { Answer } from './answer.ts';

/** Raw events that are kept; of a longer stream the latest. */
export const mostEvents = 2_000;
/** Characters that are shown of one event. */
const mostCharacters = 2_000;

export interface RawEvent {
  readonly number: number;
  /** Milliseconds after the request was sent, and after the event before. */
  readonly at: number;
  readonly since: number;
  readonly text: string;
  /** What it added to the response; undefined for an event without content. */
  readonly token: string | undefined;
}

export class Stream {
  readonly answer = new Answer();
  events: RawEvent[] = [];
  count = 0;
  requestId: string | undefined;
  /** Milliseconds after the request was sent. */
  headAt: number | undefined;
  firstTokenAt: number | undefined;
  lastTokenAt: number | undefined;
  endAt: number | undefined;
  readonly #sentAt = performance.now();
  #last = 0;

  /** Tokens per second after the first one: by usage once it is known, by events before. */
  get rate(): number | undefined {
    const { usage, deltas } = this.answer;
    if (this.firstTokenAt === undefined || this.lastTokenAt === undefined) return undefined;
    const seconds = (this.lastTokenAt - this.firstTokenAt) / 1000;
    const tokens = (this.endAt === undefined ? deltas : (usage?.completion ?? deltas)) - 1;
    return seconds > 0 && tokens > 0 ? tokens / seconds : undefined;
  }

  /** `changed` is called after each event; throws where the response or the stream fails. */
  async run(
    call: Call,
    read: (event: ServerEvent, answer: Answer) => void,
    signal: AbortSignal,
    changed: () => void,
  ): Promise<void> {
    try {
      const response = await send(call, signal);
      this.headAt = this.#elapsed();
      this.requestId = response.headers.get('x-request-id') ?? undefined;
      for await (const event of readEvents(response)) {
        this.#add(event, read);
        changed();
      }
    } finally {
      this.endAt = this.#elapsed();
      changed();
    }
    const { failure } = this.answer;
    if (failure !== undefined) throw new ApiError(failure, { status: 0, requestId: this.requestId ?? null });
  }

  #elapsed(at = performance.now()): number {
    return at - this.#sentAt;
  }

  #add(event: ServerEvent, read: (event: ServerEvent, answer: Answer) => void): void {
    const at = this.#elapsed(event.at);
    const before = this.answer.deltas;
    read(event, this.answer);
    const token = this.answer.deltas === before ? undefined : this.answer.latest;
    const text = event.raw.length > mostCharacters ? `${event.raw.slice(0, mostCharacters)} …` : event.raw;
    this.events.push({ number: ++this.count, at, since: at - this.#last, text: text.trimEnd(), token });
    this.#last = at;
    // In larger steps than one, each of which would copy the list.
    if (this.events.length >= mostEvents * 1.25) this.events = this.events.slice(-mostEvents);
    if (token === undefined) return;
    this.firstTokenAt ??= at;
    this.lastTokenAt = at;
  }
}
