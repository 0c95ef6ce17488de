/** Image calls and results, independent of any engine. */
import type { MediaData } from '../media.ts';

export type ImageFormat = 'png' | 'jpeg' | 'webp';

export type ImageBackground = 'auto' | 'opaque' | 'transparent';

export interface ImageCall {
  readonly prompt: string;
  /** Images wanted, made together: another number may change every one of them for the same seed. */
  readonly n: number;
  readonly width: number;
  readonly height: number;
  /** From -2⁶³ to 2⁶³ - 1: to be written out digit by digit, never through a float. Undefined: the engine rolls one. */
  readonly seed: bigint | undefined;
  /** Undefined, here and below: the engine's own default. */
  readonly steps: number | undefined;
  readonly guidanceScale: number | undefined;
  readonly negativePrompt: string | undefined;
  readonly outputFormat: ImageFormat;
  /** 0 to 100. */
  readonly outputCompression: number | undefined;
  readonly background: ImageBackground;
  /** Pictures to work from, in the client's order; none: the image comes from the prompt alone. */
  readonly references: readonly InputImage[];
  /** A PNG whose transparent part is what may change; only where there are references. */
  readonly mask: InputImage | undefined;
}

/**
 * Known to be whole: its header was read, its type is what the bytes say. `bytes` and `base64` are each made from the
 * other on first use, so a wire asks for the one it sends and leaves the other alone.
 */
export interface InputImage extends MediaData {
  readonly width: number;
  readonly height: number;
}

/** One image of the call. */
export interface Drawn {
  /** Its place, from 0. */
  readonly index: number;
  /** As the engine gave it: base64 stays base64 until somebody asks for bytes. Type and size are checked by the receiver. */
  readonly image: MediaData;
  /** Only when the engine really rewrote the prompt. */
  readonly revisedPrompt: string | undefined;
}
