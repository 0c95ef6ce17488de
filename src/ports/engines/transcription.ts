/** Transcription calls and results, independent of any engine. */

export interface TranscriptionCall {
  readonly audio: Recording;
  /** ISO 639-1; undefined: the engine finds out. */
  readonly language: string | undefined;
  /** How names and terms are spelled. */
  readonly prompt: string | undefined;
  readonly temperature: number | undefined;
  /** Pieces are wanted as they are recognised. */
  readonly stream: boolean;
}

export interface Recording {
  readonly bytes: Buffer;
  /** Told from the bytes: wav, mp3, flac, m4a, ogg, webm, aac … */
  readonly container: string;
  readonly seconds: number;
}

/** A piece of the transcript; all of them together are the whole text. */
export interface Transcribed {
  readonly text: string;
}
