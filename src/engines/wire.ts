/** The contract of a wire: the requests an engine takes and how its responses are decoded. */
import type { Model } from '../../schemas/catalog.ts';
import type { EngineRow } from '../../schemas/engines.ts';
import type { ApiError } from '../errors.ts';
import type { ChatCall, Parts } from '../ports/engines/chat.ts';
import type { CompletionCall } from '../ports/engines/completion.ts';
import type { AllowedAnswer, Decided, DecisionCall } from '../ports/engines/decision.ts';
import type { Embedded, EmbeddingCall } from '../ports/engines/embedding.ts';
import type { ImageCall } from '../ports/engines/image.ts';
import type { RenderCall, RenderError, RenderOutput } from '../ports/engines/render.ts';
import type { RerankCall, Reranked } from '../ports/engines/rerank.ts';
import type { SpeechCall } from '../ports/engines/speech.ts';
import type { DetokenizeCall, TokenizeCall, Tokenized } from '../ports/engines/tokenize.ts';
import type { TranscriptionCall } from '../ports/engines/transcription.ts';
import type { Base64, MediaData } from '../ports/media.ts';
import type { OutgoingBody } from './http1/outgoing-body.ts';

/** An operation that is absent is not served by engines of this wire. */
export interface Wire {
  /** Headers of every request, authentication included; called once per engine. The key is absent where the row names none. */
  headers(key: string | undefined): Readonly<Record<string, string>>;
  /** What an error response says. */
  readError(status: number, body: string): ErrorReading;
  readonly chat?: ChatWire;
  readonly completions?: CompletionWire;
  readonly embeddings?: EmbeddingWire;
  readonly decisions?: DecisionWire;
  readonly rerank?: RerankWire;
  readonly tokenizer?: TokenizerWire;
  readonly images?: ImageWire;
  readonly renders?: RenderWire;
  readonly speech?: SpeechWire;
  readonly transcription?: TranscriptionWire;
}

export interface ErrorReading {
  /** The one received, or the one it should have been where the engine is known to send a wrong one. */
  readonly status: number;
  /** Fit for the client; undefined when there is none. */
  readonly message: string | undefined;
}

/** A POST. */
export interface WireRequest {
  /** Below the replica's base address, or below its host. */
  readonly path: string;
  readonly fromRoot?: boolean;
  readonly body: OutgoingBody;
  /** JSON unless given. */
  readonly contentType?: string;
}

/**
 * Decodes a whole response as its bytes arrive. Every `push` and `end` of a wire throws the failure the response
 * carries, or `engine_unreachable` when the bytes cannot be read.
 */
export interface BodyDecoder<Result> {
  /** The bytes are its own to keep. */
  push(bytes: Buffer): void;
  end(): Result;
}

// ── chat and text completions ──────────────────────────────────────────────────────────────────────

export type ChatWire = PartsWire<ChatCall>;
export type CompletionWire = PartsWire<CompletionCall>;

export interface PartsWire<Call> {
  /** The format has no field for several answers: n of them are n calls. */
  readonly oneAnswer?: boolean;
  encode(model: Model, call: Call, row: EngineRow): WireRequest;
  decodeStream(model: Model, call: Call): StreamDecoder;
  /** The body is borrowed until this returns. */
  decodeWhole(model: Model, call: Call, body: Buffer): Parts;
  /** What an error message says of a prompt that does not fit; undefined for one about something else. Absent: unknown. */
  readContextFull?(message: string): ContextFull | undefined;
  /** How the rest of a stream that broke off is requested. Absent: it cannot be. */
  readonly continuation?: ContinuationWire<Call>;
}

export interface ContinuationWire<Call> {
  /** False for a call whose rest would not be right, wherever it breaks off. */
  allows(call: Call): boolean;
  /** What comes after `delivered`; undefined where that would not be right. */
  rest(model: Model, call: Call, row: EngineRow, delivered: DeliveredAnswer): RestOfAnswer | undefined;
}

/** What a client has of an answer; the text may begin when the reasoning has ended. */
export interface DeliveredAnswer {
  readonly text: string;
  readonly reasoning: string;
  readonly textTokens: number;
  readonly reasoningTokens: number;
  /** The reasoning came between tags in the text. */
  readonly inTags: boolean;
}

export interface RestOfAnswer {
  readonly request: WireRequest;
  readonly stream: StreamDecoder;
  /** The ends of what was delivered that are not in the request, with which the rest most likely begins. */
  readonly unsent: { readonly text: string; readonly reasoning: string };
}

/** Tokens, as far as the engine states them. */
export interface ContextFull {
  readonly prompt: number | undefined;
  /** Of a prompt that would have fitted. */
  readonly maximum: number | undefined;
  readonly window: number | undefined;
}

export interface StreamDecoder {
  /** Parts of one read, none or more. The bytes are borrowed until this returns. */
  push(bytes: Buffer): Parts;
  /** No more bytes: what was held back, and a failure if the response was incomplete. */
  end(): Parts;
  /** The response is complete, whatever the connection does next. */
  readonly done: boolean;
  /** It reasons between tags in the text, or did until now. Absent: it never does. */
  readonly inTags?: boolean;
  /** Why the response ended, an event that cannot be read included; comes after the parts of the same read. */
  readonly failure: ApiError | undefined;
}

// ── embeddings and decisions ───────────────────────────────────────────────────────────────────────

export interface EmbeddingWire {
  encode(model: Model, call: EmbeddingCall): WireRequest;
  /** Vectors come out as the call asked for them, one for each of its inputs. */
  decode(call: EmbeddingCall, inputs: number): BodyDecoder<Omit<Embedded, 'first'>>;
  /** A refusal that a smaller batch or a shorter input may avoid. */
  isAboutSize(refusal: unknown): boolean;
}

/** Either all questions in one request, or the likelihood of each answer as the continuation of a prompt. */
export interface DecisionWire {
  takesQuestions(model: Model): boolean;
  readonly questions: {
    encode(model: Model, call: DecisionCall): WireRequest;
    decode(call: DecisionCall): BodyDecoder<readonly Decided[]>;
  };
  readonly continuations: {
    /** Scores every answer after the same prompt. */
    encode(model: Model, prompt: string, answers: readonly AllowedAnswer[]): WireRequest;
    decode(answers: readonly AllowedAnswer[]): BodyDecoder<Continuations>;
  };
}

export interface Continuations {
  readonly logprobs: readonly number[];
  /** Tokens of the prompt alone. */
  readonly tokens: number | undefined;
}

/** One request gives a score to each of its documents. */
export interface RerankWire {
  encode(model: Model, call: RerankCall): WireRequest;
  decode(documents: number): BodyDecoder<Omit<Reranked, 'first'>>;
  /** A refusal that a smaller batch or a shorter document may avoid. */
  isAboutSize(refusal: unknown): boolean;
}

/** `api` is which requests the engine takes: its row says. */
export interface TokenizerWire {
  encodeText(model: Model, call: TokenizeCall, api: TokenizerApi): WireRequest;
  decodeTokens(call: TokenizeCall): BodyDecoder<Tokenized>;
  encodeTokens(model: Model, call: DetokenizeCall, api: TokenizerApi): WireRequest;
  decodeText(): BodyDecoder<string>;
}

type TokenizerApi = NonNullable<EngineRow['tokenizer_api']>;

// ── images and renders ─────────────────────────────────────────────────────────────────────────────

/** Of one image, decoded. */
export const mostImageBytes = 64 * 1024 * 1024;

export interface ImageWire {
  encode(model: Model, call: ImageCall): WireRequest;
  /** As many images as the call asks for. */
  decode(call: ImageCall): BodyDecoder<readonly MadeImage[]>;
}

export interface MadeImage {
  /** A string is a link to it. */
  readonly image: MediaData | string;
  readonly revisedPrompt: string | undefined;
}

/** A render is a job of the engine: created, polled, downloaded, and deleted. */
export interface RenderWire {
  /** True: inputs are sent as files, not as base64. */
  sendsFiles(model: Model): boolean;
  /** `media`: the call's inputs in their order, as bytes where `sendsFiles`, else as base64. */
  encode(model: Model, call: RenderCall, media: readonly Base64[]): WireRequest;
  decode(call: RenderCall, body: Buffer): EngineJob;
  /** GET reads the job, DELETE cancels and removes it. */
  jobPath(call: RenderCall, id: string): string;
  /** The bytes of an output. */
  contentPath(call: RenderCall, id: string, output: number): string;
  /** A song as WAV while it renders. */
  streamPath(call: RenderCall, id: string, output: number): string;
}

export interface EngineJob {
  readonly id: string;
  readonly state: 'waiting' | 'rendering' | 'done' | 'failed';
  /** 0 to 1. */
  readonly done: number;
  readonly outputs: readonly Omit<RenderOutput, 'type' | 'bytes'>[];
  /** Why it failed. */
  readonly failure: RenderError | undefined;
}

// ── speech ─────────────────────────────────────────────────────────────────────────────────────────

export interface SpeechWire {
  /** Requests the format that the model's row names. */
  encode(model: Model, call: SpeechCall): WireRequest;
  /** The failure in a body that is no audio. */
  failureOf(body: string): ApiError | undefined;
}

export interface TranscriptionWire {
  encode(model: Model, call: TranscriptionCall, stream: boolean): WireRequest;
  decodeWhole(body: Buffer): string;
  decodeStream(): TranscriptDecoder;
}

export interface TranscriptDecoder {
  /** The text of one read, perhaps none. */
  push(bytes: Buffer): string;
  /** No more bytes: what was held back. */
  end(): string;
  /** The transcript is complete, whatever the connection does next. */
  readonly done: boolean;
  readonly failure: ApiError | undefined;
}
