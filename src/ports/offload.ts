/** CPU-heavy work on threads: limited in parallel runs, queue, memory and time. */
import { Observable } from 'rxjs';
import type { Base64 } from './media.ts';

/**
 * Every task rejects with `unavailable` when the queue is full or the wait too long, and with the signal's reason when
 * it is aborted (`offloaded` makes that unsubscription); an aborted task that runs already is left to end, and what it
 * found is thrown away.
 */
export interface Offload {
  /**
   * A large JSON text → its value. It looks as JSON.parse gives it, but for one thing: valid base64 of four kilobytes
   * and more (bare, or a data URI) under a key that carries media, such as `url`, `data` or `file_data`, is a Uint8Array
   * of its characters; `Media` takes it as it takes a string.
   * Rejects with a SyntaxError as JSON.parse throws it; with `invalid_request` for a long data URI that is no base64, or
   * too many or too deeply nested values; with `payload_too_large` for too much text beside the media.
   * The bytes are handed over: a buffer they fill is moved to the thread and empty here afterwards.
   * The integer under `wideKey` in the outermost object is a bigint where a number would lose digits.
   */
  parseJson(bytes: Uint8Array, signal?: AbortSignal, wideKey?: string): Promise<unknown>;
  /** Number of tokens of all texts together, by the named tokenizer's own rules. */
  countTokens(texts: readonly string[], tokenizer: string, signal?: AbortSignal): Promise<number>;
  /** The texts, each cut where it would have more than `limit` tokens. */
  cutTokens(
    texts: readonly string[],
    tokenizer: string,
    limit: number,
    signal?: AbortSignal,
  ): Promise<readonly string[]>;
  /**
   * The text of a PDF, DOCX, HTML, Markdown, CSV, JSON or plain-text document; which it is, its bytes say.
   * Rejects with `invalid_request` that says why it cannot be read, without the field.
   */
  documentText(document: DocumentSource, filename: string, options?: DocumentOptions): Promise<string>;
  /** The label by which `TextDecoder` reads a text that is not UTF-8; undefined where nothing tells it. */
  textEncoding(text: EncodedSample, signal?: AbortSignal): Promise<string | undefined>;
  /** Items of a text, or of as much of it as is there so far. */
  splitText(
    window: TextWindow,
    rules: SplitRules,
    tokenizer: string,
    signal?: AbortSignal,
  ): Promise<SplitText>;
  close(): Promise<void>;
}

/** The bytes, or their base64: `MediaData` fits as it is and is decoded on the thread. */
export type DocumentSource = Uint8Array | { readonly base64: Base64 };

/** Some kilobytes of a text: its lines that are not ASCII, or its beginning where it has zeros, as UTF-16 has. */
export interface EncodedSample {
  readonly sample: Uint8Array;
  readonly wide: boolean;
}

export interface DocumentOptions {
  /** A document with more text than this is refused. */
  readonly maxCharacters?: number;
  readonly signal?: AbortSignal;
}

export interface SplitRules {
  /** Tokens of an item, … */
  readonly maxTokens: number;
  /** … of which so many, at most, are repeated from the item before; never more than half. */
  readonly overlapTokens: number;
}

export interface TextWindow {
  readonly text: string;
  /** Characters at its start that the last item of the window before had too. */
  readonly covered: number;
  /** Nothing comes after it. */
  readonly final: boolean;
}

export interface SplitText {
  readonly items: readonly string[];
  /** What the next window must begin with. */
  readonly rest: string;
  readonly covered: number;
}

/** Work that listens to a signal, as an Observable of its one result: unsubscribing aborts it. */
export const offloaded = <T>(start: (signal: AbortSignal) => Promise<T>): Observable<T> =>
  new Observable((subscriber) => {
    const controller = new AbortController();
    start(controller.signal).then(
      (result) => {
        subscriber.next(result);
        subscriber.complete();
      },
      (reason) => subscriber.error(reason),
    );
    return () => controller.abort();
  });
