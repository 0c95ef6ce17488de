/** Still pictures, fully decoded off the event loop, a limited number at once. */

export interface Pictures {
  /**
   * Resolves when the whole of a PNG, JPEG, WebP, GIF or HEIC can be decoded; rejects with `invalid_request` that goes on
   * from the field's name when it cannot, or when it has more pixels than allowed.
   */
  verify(bytes: Buffer, maxPixels: number, signal: AbortSignal): Promise<PictureSize>;
  /** Whether any pixel lets something through. Rejects as `verify` does. */
  isTransparent(bytes: Buffer, signal: AbortSignal): Promise<boolean>;
}

export interface PictureSize {
  readonly width: number;
  readonly height: number;
}
