/** Render calls and events of videos and songs; calls are plain JSON, so that any worker can run them. */
import type { Observable } from 'rxjs';
import type { Backpressure } from '../backpressure.ts';

export type RenderCall = VideoCall | MusicCall;

/** A file that was given with the request; its bytes are a blob. */
export interface RenderInput {
  readonly kind: 'image' | 'video' | 'audio';
  readonly use: 'first_frame' | 'last_frame' | 'reference';
  readonly blob: string;
  readonly mediaType: string;
}

export interface VideoCall {
  readonly type: 'video';
  readonly prompt: string;
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
  /** The model renders at half this size and enlarges. */
  readonly upscaled: boolean;
  readonly steps: number;
  /** `turbo`, `standard`, `max`; undefined when raw steps were asked for. */
  readonly quality: string | undefined;
  readonly audio: boolean;
  /** Digits where a number would lose some: any integer of 64 bits. */
  readonly seed: number | string;
  readonly startTimeSeconds: number | undefined;
  readonly inputs: readonly RenderInput[];
}

export interface MusicCall {
  readonly type: 'music';
  readonly prompt: string;
  readonly lyrics: string | undefined;
  readonly seconds: number;
  /** Songs wanted. */
  readonly n: number;
  readonly format: 'mp3' | 'wav' | 'flac' | 'opus';
  /** As of a video. */
  readonly seed: number | string;
}

/** The bytes of an output are to be read to their end, or left, before anything else comes. */
export interface RenderOutput {
  readonly type: 'output';
  readonly index: number;
  /** What the renderer says of it, here and below: jobs read the file instead. */
  readonly mediaType: string;
  readonly seconds?: number;
  readonly width?: number;
  readonly height?: number;
  /** To be subscribed to once. */
  bytes(backpressure: Backpressure): Observable<Uint8Array>;
}

export type RenderEvent =
  | { readonly type: 'progress' /** 0 to 1. */; readonly done: number }
  /** A progressive song as it grows: samples, 16-bit little-endian, interleaved, of the model's own rate. */
  | { readonly type: 'samples'; readonly output: number; readonly bytes: Uint8Array }
  | RenderOutput;

export const renderErrorCodes = [
  'render_failed',
  'content_policy',
  'invalid_input_media',
  'media_download_failed',
  'timeout',
  'out_of_memory',
  'engine_unavailable',
  'internal_error',
] as const;
export type RenderErrorCode = (typeof renderErrorCodes)[number];

/** What a render errors with: the job keeps both. */
export class RenderError extends Error {
  readonly code: RenderErrorCode;
  constructor(code: RenderErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RenderError';
    this.code = code;
  }
}

/** What a renderer may reach for its inputs. */
export interface RenderFlow {
  readonly jobId: string;
  readonly subscription: string;
  readonly backpressure: Backpressure;
  /** Bytes of an input. */
  input(input: RenderInput, backpressure: Backpressure): Observable<Buffer>;
}
