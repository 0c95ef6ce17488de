/** Decodes a chunked HTTP body incrementally. */

const SIZE = 0;
const PADDING = 1;
const EXTENSION = 2;
const SIZE_END = 3;
const DATA = 4;
const DATA_RETURN = 5;
const DATA_END = 6;

const TAB = 9;
const LINE_FEED = 10;
const RETURN = 13;
const SPACE = 32;
const SEMICOLON = 59;
const DELETE = 127;

/** Keeps every size an exact number. */
const DIGIT_LIMIT = 13;
/** Of one chunk: blanks after its size, and extensions, which are ignored. */
const EXTENSION_LIMIT = 4096;

export class ChunkedBody {
  /** The chunk of size 0 was seen; trailers follow. */
  done = false;
  broken = false;
  #state = SIZE;
  #digits = 0;
  /** Bytes left of the current chunk. */
  #size = 0;
  #extension = 0;

  reset(): void {
    this.done = false;
    this.broken = false;
    this.#state = SIZE;
    this.#digits = 0;
    this.#size = 0;
  }

  /** Adds the data to `segment`; returns where it stopped: after the last chunk, or at `to`. */
  read(bytes: Buffer, from: number, to: number, segment: BodySegment): number {
    let at = from;
    while (at < to) {
      if (this.#state === DATA) {
        const end = Math.min(to, at + this.#size);
        segment.add(bytes, at, end);
        this.#size -= end - at;
        at = end;
        if (this.#size === 0) this.#state = DATA_RETURN;
        continue;
      }
      this.#frame(bytes[at++] ?? 0);
      if (this.broken || this.done) return at;
    }
    return at;
  }

  #frame(byte: number): void {
    switch (this.#state) {
      case SIZE:
        this.#sizeDigit(byte);
        return;
      case PADDING:
        if (byte === RETURN) this.#state = SIZE_END;
        else if (byte === SEMICOLON) this.#state = EXTENSION;
        else this.broken = !isBlank(byte) || ++this.#extension > EXTENSION_LIMIT;
        return;
      case EXTENSION:
        if (byte === RETURN) this.#state = SIZE_END;
        else this.broken = !isText(byte) || ++this.#extension > EXTENSION_LIMIT;
        return;
      case SIZE_END:
        if (byte !== LINE_FEED) this.broken = true;
        else if (this.#size === 0) this.done = true;
        else this.#state = DATA;
        return;
      case DATA_RETURN:
        if (byte !== RETURN) this.broken = true;
        this.#state = DATA_END;
        return;
      default:
        if (byte !== LINE_FEED) this.broken = true;
        this.#state = SIZE;
        this.#digits = 0;
    }
  }

  #sizeDigit(byte: number): void {
    const digit = hexadecimal(byte);
    if (digit >= 0) {
      this.#size = this.#size * 16 + digit;
      this.broken = ++this.#digits > DIGIT_LIMIT;
      return;
    }
    this.#extension = 0;
    if (this.#digits === 0) this.broken = true;
    else if (byte === RETURN) this.#state = SIZE_END;
    else if (byte === SEMICOLON) this.#state = EXTENSION;
    else if (isBlank(byte)) this.#state = PADDING;
    else this.broken = true;
  }
}

const hexadecimal = (byte: number): number => {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
};

const isBlank = (byte: number): boolean => byte === SPACE || byte === TAB;
const isText = (byte: number): boolean => (byte >= SPACE && byte !== DELETE) || byte === TAB;

/** Joins the pieces of a body within one read, in place. */
export class BodySegment {
  #from = 0;
  #to = 0;

  add(bytes: Buffer, from: number, to: number): void {
    if (this.#to > this.#from) this.#to += bytes.copy(bytes, this.#to, from, to);
    else {
      this.#from = from;
      this.#to = to;
    }
  }

  /** Undefined when there are none. */
  take(bytes: Buffer): Buffer | undefined {
    if (this.#to === this.#from) return undefined;
    const together = bytes.subarray(this.#from, this.#to);
    this.#from = 0;
    this.#to = 0;
    return together;
  }
}
