/** The house's own words for a conversation: what every chat dialect is turned into and every engine wire speaks from. */
import type { ApiError } from '../../errors.ts';
import type { Base64 } from '../media.ts';

// ── what an engine is asked ────────────────────────────────────────────────────────────────────────

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | 'ultra';

export interface ChatCall {
  readonly messages: readonly ChatMessage[];
  readonly stream: boolean;
  /** Effective completion limit, thinking included, already cut to the context window. */
  readonly maxTokens: number;
  readonly n: number;
  /** The last message is the assistant's and is to be carried on; only the new text comes back. */
  readonly continueFinal: boolean;
  readonly thinking: Thinking;
  readonly sampling: Sampling;
  readonly stop: readonly string[];
  readonly logprobs: { readonly top: number } | undefined;
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice;
  readonly parallelToolCalls: boolean | undefined;
  readonly format: AnswerFormat;
  /** Opaque id of the end user, if the client gave one. */
  readonly user: string | undefined;
  /** Fields that only the engine knows, as the client sent them; those above win over them. */
  readonly forwarded?: Forwarded | undefined;
}

/** By name; never a name that the gateway reads itself. */
export type Forwarded = Readonly<Record<string, unknown>>;

/** `effort` is undefined when the client said nothing: the engine's default stands. */
export interface Thinking {
  readonly effort: Effort | undefined;
  readonly budget: number | undefined;
}

export interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly repetitionPenalty?: number;
  readonly seed?: number;
  /** By id of the engine's token. */
  readonly logitBias?: Readonly<Record<string, number>>;
}

export type ChatMessage =
  | {
      readonly role: 'system' | 'developer';
      readonly content: readonly TextContent[];
      readonly name?: string;
    }
  | { readonly role: 'user'; readonly content: readonly UserContent[]; readonly name?: string }
  | {
      readonly role: 'assistant';
      readonly content: readonly TextContent[];
      readonly toolCalls: readonly ToolCall[];
      readonly name?: string;
      /** What the same engine thought and signed; for engines that take it back. */
      readonly thoughts?: readonly Thought[];
    }
  | { readonly role: 'tool'; readonly callId: string; readonly content: readonly UserContent[] };

export interface TextContent {
  readonly type: 'text';
  readonly text: string;
}

/** Media is always data by the time an engine sees it: fetched, checked and bounded. */
export interface MediaContent {
  readonly type: 'image' | 'audio' | 'video';
  readonly mediaType: string;
  readonly base64: Base64;
  readonly detail?: string;
}

export type UserContent = TextContent | MediaContent;

export interface Thought {
  /** Parts of the message's content that come before it. */
  readonly before: number;
  readonly text: string;
  /** The engine's own. */
  readonly signature: string;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface Tool {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly strict?: boolean;
}

export type ToolChoice = 'none' | 'auto' | 'required' | { readonly name: string };

export type AnswerFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly name: string;
      readonly schema: Readonly<Record<string, unknown>>;
      readonly strict?: boolean;
      readonly description?: string;
    };

// ── what comes back ────────────────────────────────────────────────────────────────────────────────

declare const escaped: unique symbol;
/**
 * Text as it stands between the quotes of a JSON string. It is escaped once, by the engine, and copied from
 * there into our own JSON without being read: that is most of what a streamed token would otherwise cost.
 */
export type JsonText = string & { readonly [escaped]: true };

export const toJsonText = (text: string): JsonText => JSON.stringify(text).slice(1, -1) as JsonText;
export const fromJsonText = (text: JsonText): string =>
  text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;

/** An answer that is broken off has none of these: it is a failure. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export interface Logprob {
  readonly token: string;
  /** Null for the first token of an echoed prompt: nothing comes before it. */
  readonly logprob: number | null;
  readonly bytes: readonly number[] | null;
  readonly top_logprobs: readonly { token: string; logprob: number; bytes: readonly number[] | null }[];
}

export interface TokenUsage {
  readonly prompt: number;
  readonly completion: number;
  readonly cached: number;
  readonly reasoning: number;
}

export interface TextPart {
  readonly type: 'text';
  readonly choice: number;
  /** May be made of the bytes when it is first asked for. */
  readonly text: JsonText;
  /** The same in UTF-8, where it came so: whoever writes bytes need not make them again. */
  readonly bytes?: Uint8Array;
  readonly logprobs?: readonly Logprob[] | undefined;
}

/**
 * A piece of an answer. Sources emit what arrived together as one array (`readonly Part[]`), never an empty one.
 * `choice` numbers the n answers from 0, `call` the tool calls of one answer from 0, each complete before the next starts.
 * A source fails by erroring while it has emitted nothing, and by a last `failure` part afterwards.
 */
export type Part =
  | TextPart
  | {
      readonly type: 'reasoning';
      readonly choice: number;
      readonly text: JsonText;
      /** The engine's, of the thought that ends here; its text may be empty. */
      readonly signature?: string;
    }
  | {
      readonly type: 'tool-call';
      readonly choice: number;
      readonly call: number;
      readonly id: string;
      readonly name: string;
    }
  | {
      readonly type: 'tool-arguments';
      readonly choice: number;
      readonly call: number;
      readonly text: JsonText;
    }
  | {
      readonly type: 'finish';
      readonly choice: number;
      readonly reason: FinishReason;
      /** The engine's own word. */
      readonly native: string | null;
      /** The stop sequence that matched; true when the engine does not say which. */
      readonly stopSequence?: string | true | undefined;
    }
  | {
      readonly type: 'usage';
      readonly usage: TokenUsage;
      /** From engines that count along; more is to come. */
      readonly soFar?: true;
      /** Calls that were sent to engines, where the stream went on after it broke off; known at the end. */
      readonly attempts?: number;
    }
  | { readonly type: 'failure'; readonly error: ApiError };

export type Parts = readonly Part[];
