/** The models behind the gateway: one call in, a stream of parts out. */
import type { Observable } from 'rxjs';
import type { Model } from '../../../schemas/catalog.ts';
import type { Backpressure } from '../backpressure.ts';
import type { Served } from '../served.ts';
import type { Trace } from '../trace.ts';
import type { ChatCall, Parts } from './chat.ts';
import type { CompletionCall } from './completion.ts';
import type { Decided, DecisionCall } from './decision.ts';
import type { Embedded, EmbeddingCall } from './embedding.ts';
import type { Drawn, ImageCall } from './image.ts';
import type { RenderCall, RenderEvent, RenderFlow } from './render.ts';
import type { RerankCall, Reranked } from './rerank.ts';
import type { SpeechCall, Spoken } from './speech.ts';
import type { TokenCounts } from './token-counts.ts';
import type { DetokenizeCall, TokenizeCall, Tokenized } from './tokenize.ts';
import type { Transcribed, TranscriptionCall } from './transcription.ts';

/** What belongs to a call beside its content. Unsubscribing from the answer aborts the call at once. */
export interface Flow {
  readonly requestId: string;
  /** Whose call it is: those of different subscriptions take turns where an engine is full. */
  readonly subscription: string;
  /** What its session is known by, where the engine keeps sessions on one replica. */
  readonly session?: string | undefined;
  readonly backpressure: Backpressure;
  /** The trace it belongs to; absent: none. */
  readonly trace?: Trace | undefined;
  /** Where engines note how they served it; absent: nobody wants to know. */
  readonly served?: Served | undefined;
  /** For answers that are continued elsewhere; absent: their tokens are estimated. */
  readonly tokenCounts?: TokenCounts | undefined;
  /** Copies what is read into buffers that others use after the request; absent: it gets memory of its own. */
  readonly copies?: { copy(bytes: Buffer): Buffer } | undefined;
}

export interface Engine {
  /**
   * Fails with 502, 503 or 504 (or the engine's own 400) before the first part; afterwards by a last `failure` part.
   * Absent: the engine does not chat.
   */
  chat?(model: Model, call: ChatCall, flow: Flow): Observable<Parts>;
  /** Continues texts; emits and fails as `chat` does. Absent: the engine continues none. */
  complete?(model: Model, call: CompletionCall, flow: Flow): Observable<Parts>;
  /** All vectors in pieces, each once and in any order; fails as a whole. Absent: the engine makes none. */
  embed?(model: Model, call: EmbeddingCall, flow: Flow): Observable<Embedded>;
  /** The answers, each once and in any order; fails as a whole. Absent: the engine decides nothing. */
  decide?(model: Model, call: DecisionCall, flow: Flow): Observable<Decided>;
  /** All scores in pieces, each once and in any order; fails as a whole. Absent: the engine ranks nothing. */
  rerank?(model: Model, call: RerankCall, flow: Flow): Observable<Reranked>;
  /** The tokens of a text or conversation, once. Absent: the engine does not offer its tokenizer. */
  tokenize?(model: Model, call: TokenizeCall, flow: Flow): Observable<Tokenized>;
  /** The text of tokens, once. Absent: the engine does not offer its tokenizer. */
  detokenize?(model: Model, call: DetokenizeCall, flow: Flow): Observable<string>;
  /**
   * The images, each once and in any order; fails as a whole, and with `engine_unreachable` (502) when an answer holds
   * fewer than were asked for. Absent: the engine draws nothing.
   */
  image?(model: Model, call: ImageCall, flow: Flow): Observable<Drawn>;
  /** Speech piece by piece, held back by backpressure; errors at any point. Absent: the engine does not speak. */
  speak?(model: Model, call: SpeechCall, flow: Flow): Observable<Spoken>;
  /** The transcript piece by piece; errors at any point. Absent: the engine does not listen. */
  transcribe?(model: Model, call: TranscriptionCall, flow: Flow): Observable<Transcribed>;
  /** Progress, and every output once; errors with a `RenderError`. Unsubscribing stops the render. Absent: it renders nothing. */
  render?(model: Model, call: RenderCall, flow: RenderFlow): Observable<RenderEvent>;
}

export interface Engines {
  /** The engine that serves a model; throws `unavailable` when its row is missing. */
  of(model: Model): Engine;
  /** One word per engine for `GET /health`. */
  health(): Readonly<Record<string, 'ok' | 'down'>>;
  close(): Promise<void>;
}
