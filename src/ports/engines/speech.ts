/** Speech calls and results, independent of any engine. */

/** Samples an engine gives: 24,000 a second, one channel, 16 bits, little-endian. */
export const speechRate = 24_000;
export const sampleBytes = 2;

export interface SpeechCall {
  readonly input: string;
  readonly voice: SpeechVoice;
  /** Style of a built-in speaker. */
  readonly instructions: string | undefined;
  /** ISO 639-1; undefined: the engine finds out. */
  readonly language: string | undefined;
  readonly seed: number | undefined;
  readonly temperature: number | undefined;
  /** Never 0: engines take that badly. */
  readonly topP: number | undefined;
  readonly topK: number | undefined;
}

export type SpeechVoice =
  | { readonly kind: 'builtin'; readonly id: string }
  | { readonly kind: 'design'; readonly description: string }
  | { readonly kind: 'clone'; readonly clip: VoiceClip; readonly transcript: string | undefined };

export interface VoiceClip {
  readonly bytes: Buffer;
  /** As `MediaFacts` names it. */
  readonly container: string;
  readonly seconds: number;
}

/** A piece of speech as it is made. */
export interface Spoken {
  /** Whole samples, one or more. */
  readonly samples: Buffer;
  /** Written into the tags of files that are made of it; only the first piece's counts. */
  readonly comment?: string;
}
