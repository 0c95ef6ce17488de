/** Audio and video: probing and converting, outside the event loop, with limits. */
import type { Observable } from 'rxjs';
import type { Backpressure } from './backpressure.ts';

export interface MediaFacts {
  /** Read from the bytes: wav, mp3, flac, m4a, ogg, webm, aac, mp4, mov … */
  readonly container: string;
  readonly hasVideo: boolean;
  readonly hasAudio: boolean;
  /** Of the longest stream, really counted where the header does not say. */
  readonly seconds: number;
  readonly sampleRate?: number;
  readonly channels?: number;
  readonly width?: number;
  readonly height?: number;
  /** By ffmpeg's names: `h264`, `aac`, `yuv420p` … */
  readonly videoCodec?: string;
  readonly pixelFormat?: string;
  readonly audioCodec?: string;
  /** Pictures in all, and a second of them. */
  readonly frames?: number;
  readonly fps?: number;
  /** The header leaves the length of the file open, as that of a stream does. */
  readonly openEnded?: boolean;
}

/** Media in a private file, to be read more than once. */
export interface MediaFile {
  readonly size: number;
  read(backpressure: Backpressure): Observable<Buffer>;
  remove(): Promise<void>;
}

export interface Spooling {
  /** Most bytes that may come. */
  readonly maxBytes: number;
  /** Paused while the disk is behind. */
  readonly backpressure: Backpressure;
  readonly signal: AbortSignal;
}

export interface Conversion {
  /** Options of ffmpeg between input and output, built by us; never text of a client's. */
  readonly arguments: readonly string[];
  /** Options before the input: raw formats must be named. */
  readonly inputArguments?: readonly string[];
  /** Most bytes that may come out. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
  /** Paused while the process is behind with an input that comes as a stream. */
  readonly inputBackpressure?: Backpressure;
  /** Written into the tags of the output: anybody's text, never read as an option. */
  readonly comment?: string;
  /** The format has to go back in what it wrote (an mp4 with its index in front): nothing comes out before the end. */
  readonly seekableOutput?: boolean;
}

export interface Codec {
  /** Rejects with `invalid_request` that says why the bytes cannot be read, without the field. */
  probe(bytes: Uint8Array, signal?: AbortSignal): Promise<MediaFacts>;
  /** As `probe`, but every picture is decoded too, and what is cut or damaged anywhere is rejected. */
  verify(file: MediaFile, signal?: AbortSignal): Promise<MediaFacts>;
  /** Writes a stream to a file; rejects with what the stream errors with, or with `payload_too_large`. */
  spool(source: Observable<Uint8Array>, spooling: Spooling): Promise<MediaFile>;
  /**
   * Input bytes in, output bytes out as they are made, held back while `backpressure` is paused. Without input it is for
   * `inputArguments` to name a source (`-f lavfi -i …`); with them, `-f` must name the format of the input; without
   * them the format is detected from the bytes, and a stream is spooled to a file before it is read. Fails with
   * `invalid_request` when the input cannot be decoded or the output is larger than `maxBytes`, with `unavailable` when
   * too many run or it takes longer than `timeoutMs`. Unsubscribing ends the process at once.
   */
  convert(
    input: Observable<Uint8Array> | Uint8Array | MediaFile | undefined,
    conversion: Conversion,
    backpressure: Backpressure,
  ): Observable<Buffer>;
  close(): Promise<void>;
}
