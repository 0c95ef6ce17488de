/** Decodes a streamed chat response: one array of parts per read. */
import type { ApiError } from '../../../errors.ts';
import type { Parts } from '../../../ports/engines/chat.ts';
import type { StreamDecoder } from '../../wire.ts';
import { tryParse } from '../shared/json.ts';
import { unreadable } from '../shared/json-picker.ts';
import { SseDecoder } from '../shared/sse-decoder.ts';
import { type AnswerOptions, ResponseDecoder } from './response-decoder.ts';
import { learnSkeleton, matchSkeleton, plainDelta, type Skeleton } from './skeleton.ts';

/** One for each choice and kind of text; more are not worth comparing with. */
const SKELETON_LIMIT = 8;
/** Skeletons learnt in a row that never matched: this server changes something in every chunk, so learning does not pay. */
const USELESS_LIMIT = 16;

interface StreamOptions extends AnswerOptions {
  /** False: every chunk is parsed. For tests that compare the two ways. */
  readonly skeletons?: boolean;
}

export class OpenAiStreamDecoder implements StreamDecoder {
  readonly #events: SseDecoder;
  readonly #answer: ResponseDecoder;
  /** Most lately used first. */
  readonly #skeletons: Skeleton[] = [];
  #learns: boolean;
  #useless = 0;
  #done = false;
  /** No more bytes come. */
  #ending = false;

  constructor(options: StreamOptions) {
    this.#answer = new ResponseDecoder(options);
    this.#learns = options.skeletons ?? true;
    this.#events = new SseDecoder((text, start, end) => this.#event(text, start, end));
  }

  get done(): boolean {
    return this.#done;
  }

  get failure(): ApiError | undefined {
    return this.#answer.failure;
  }

  get inTags(): boolean {
    return this.#answer.inTags;
  }

  push(bytes: Buffer): Parts {
    this.#events.push(bytes);
    return this.#answer.take();
  }

  end(): Parts {
    this.#ending = true;
    this.#events.end();
    if (!this.#done) this.#answer.end(false);
    this.#done = true;
    return this.#answer.take();
  }

  #event(text: string, start: number, end: number): void {
    if (this.#done || this.#answer.failure !== undefined || this.#known(text, start, end)) return;
    const json = text.slice(start, end);
    if (json.trim() === '[DONE]') {
      this.#answer.end(true);
      this.#done = true;
    } else this.#parse(json);
  }

  #known(text: string, start: number, end: number): boolean {
    for (let index = 0; index < this.#skeletons.length; index++) {
      const skeleton = this.#skeletons[index];
      const found = skeleton === undefined ? undefined : matchSkeleton(skeleton, text, start, end);
      if (skeleton === undefined || found === undefined) continue;
      if (index > 0) this.#prefer(skeleton, index);
      this.#useless = 0;
      if (skeleton.kind === 'text') this.#answer.text(skeleton.choice, found);
      else this.#answer.reasoning(skeleton.choice, found);
      return true;
    }
    return false;
  }

  #prefer(skeleton: Skeleton, index: number): void {
    this.#skeletons.splice(index, 1);
    this.#skeletons.unshift(skeleton);
  }

  #parse(json: string): void {
    const chunk = tryParse(json);
    if (chunk === undefined) {
      // What it carried would be missing. One that the connection broke off counts for nothing: what ended before it did.
      if (!this.#ending) this.#answer.failure = unreadable(new Error('An event is no JSON'));
      return;
    }
    this.#answer.push(chunk, true);
    const delta = this.#learns ? plainDelta(chunk) : undefined;
    const skeleton = delta === undefined ? undefined : learnSkeleton(json, delta);
    if (skeleton === undefined) return;
    this.#learns = ++this.#useless < USELESS_LIMIT;
    this.#skeletons.unshift(skeleton);
    if (this.#skeletons.length > SKELETON_LIMIT) this.#skeletons.pop();
  }
}
