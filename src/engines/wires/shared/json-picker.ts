/** Extracts chosen values from a JSON stream without parsing the rest. */
import { fail } from '../../../errors.ts';
import { JoinedBytes } from '../../../helpers/joined-bytes.ts';
import {
  closeArray,
  closeObject,
  colon,
  comma,
  JsonValueEnd,
  openArray,
  openObject,
  quote,
} from './json-value-end.ts';

/**
 * What to extract from a value: all of it, or some of its members. Values of another type are skipped. Built once for all
 * responses of a kind; `into` holds what is extracted from one.
 */
export type Pick<Into> = RawPick<Into> | PiecePick<Into> | ObjectPick<Into> | ArrayPick<Into>;

export interface RawPick<Into> {
  /** The value from its first to its last byte. */
  raw(bytes: Buffer, into: Into): void;
  /** An array here has no texts or objects in it, only numbers and arrays of them: its end is found much faster. */
  readonly numbers?: true;
}

/** For values so long that joining their pieces at the end would block the event loop. */
interface PiecePick<Into> {
  /** The value's bytes as they come, from its first to its last. */
  piece(bytes: Buffer, last: boolean, into: Into): void;
}

interface ObjectPick<Into> {
  readonly keys: ReadonlyMap<string, Pick<Into>>;
  end?(into: Into): void;
}

interface ArrayPick<Into> {
  readonly items: Pick<Into>;
  end?(into: Into): void;
}

/** What must come next. */
type Expected = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end' | 'nothing';

const skip: RawPick<unknown> = { raw: () => undefined };
/** The name of a field. */
const key: RawPick<unknown> = { raw: () => undefined };

export class JsonPicker<Into> {
  readonly #into: Into;
  #expected: Expected = 'value';
  /** The objects and arrays around the current place, the innermost last. */
  readonly #open: (ObjectPick<Into> | ArrayPick<Into>)[] = [];
  /** What is wanted of the value that comes next. */
  #pick: Pick<Into>;
  #taking: RawPick<Into> | PiecePick<Into> = skip;
  /** In a value that is taken or skipped as a whole. */
  #inside = false;
  readonly #end = new JsonValueEnd();
  /** The value's bytes from earlier reads. */
  readonly #pieces = new JoinedBytes();

  constructor(pick: Pick<Into>, into: Into) {
    this.#pick = pick;
    this.#into = into;
  }

  /** Throws `engine_unreachable` where the text is no JSON; what is skipped is not validated. */
  push(bytes: Buffer): void {
    let at = 0;
    if (this.#inside) at = this.#take(bytes, 0, 0);
    while (at < bytes.length) {
      const byte = bytes[at] ?? 0;
      if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) at++;
      else at = this.#next(bytes, at, byte);
    }
  }

  /** The text is over; throws when it was not whole. */
  end(): void {
    if (this.#expected !== 'nothing' || this.#inside) throw unreadable();
  }

  #next(bytes: Buffer, at: number, byte: number): number {
    switch (this.#expected) {
      case 'value-or-end':
        if (byte === closeArray) return this.#leave(at);
        return this.#value(bytes, at, byte);
      case 'value':
        return this.#value(bytes, at, byte);
      case 'key-or-end':
        if (byte === closeObject) return this.#leave(at);
        return this.#keyAt(bytes, at, byte);
      case 'key':
        return this.#keyAt(bytes, at, byte);
      case 'colon':
        if (byte !== colon) throw unreadable();
        this.#expected = 'value';
        return at + 1;
      case 'comma-or-end':
        return this.#afterValue(at, byte);
      case 'nothing':
        throw unreadable();
    }
  }

  #afterValue(at: number, byte: number): number {
    const around = this.#open[this.#open.length - 1];
    const inArray = around !== undefined && 'items' in around;
    if (byte === (inArray ? closeArray : closeObject)) return this.#leave(at);
    if (byte !== comma) throw unreadable();
    if (inArray) this.#pick = around.items;
    this.#expected = inArray ? 'value' : 'key';
    return at + 1;
  }

  #value(bytes: Buffer, at: number, byte: number): number {
    const pick = this.#pick;
    if (byte === openObject && 'keys' in pick) {
      this.#open.push(pick);
      this.#expected = 'key-or-end';
      return at + 1;
    }
    if (byte === openArray && 'items' in pick) {
      this.#open.push(pick);
      this.#pick = pick.items;
      this.#expected = 'value-or-end';
      return at + 1;
    }
    return this.#start(bytes, at, byte, 'raw' in pick || 'piece' in pick ? pick : skip);
  }

  #keyAt(bytes: Buffer, at: number, byte: number): number {
    if (byte !== quote) throw unreadable();
    return this.#start(bytes, at, byte, key);
  }

  /** Wanted names are ASCII; others need not be decoded correctly. */
  #nameValue(bytes: Buffer, start: number, end: number): void {
    const text = bytes.toString('latin1', start + 1, end - 1);
    const name = text.includes('\\') ? unescaped(`"${text}"`) : text;
    const around = this.#open[this.#open.length - 1];
    this.#pick = (around !== undefined && 'keys' in around ? around.keys.get(name) : undefined) ?? skip;
  }

  #leave(at: number): number {
    this.#open.pop()?.end?.(this.#into);
    this.#expected = this.#open.length === 0 ? 'nothing' : 'comma-or-end';
    return at + 1;
  }

  // ── a value as a whole ───────────────────────────────────────────────────────────────────────────

  #start(bytes: Buffer, at: number, byte: number, taking: RawPick<Into> | PiecePick<Into>): number {
    if (byte === comma || byte === colon || byte === closeArray || byte === closeObject) throw unreadable();
    this.#taking = taking;
    this.#end.begin(byte, 'numbers' in taking && taking.numbers === true);
    return this.#take(bytes, at, at + 1);
  }

  /** Reads on from `at` in the value whose bytes of this read begin at `start`; returns where what follows it begins. */
  #take(bytes: Buffer, start: number, at: number): number {
    const end = this.#end.find(bytes, at);
    const taking = this.#taking;
    this.#inside = end < 0;
    const after = this.#inside ? bytes.length : end;
    if (!this.#inside)
      this.#expected = taking === key ? 'colon' : this.#open.length === 0 ? 'nothing' : 'comma-or-end';
    if ('piece' in taking) taking.piece(bytes.subarray(start, after), !this.#inside, this.#into);
    else if (taking === skip) return after;
    else if (this.#inside) this.#pieces.add(bytes.subarray(start), true);
    else if (this.#pieces.length > 0) {
      this.#pieces.add(bytes.subarray(start, end), true);
      const whole = this.#pieces.take();
      this.#hand(taking, whole, 0, whole.length);
    } else this.#hand(taking, bytes, start, end);
    return after;
  }

  #hand(taking: RawPick<Into>, bytes: Buffer, start: number, end: number): void {
    if (taking === key) this.#nameValue(bytes, start, end);
    else taking.raw(bytes.subarray(start, end), this.#into);
  }
}

const unescaped = (text: string): string => {
  try {
    return JSON.parse(text) as string;
  } catch (cause) {
    throw unreadable(cause);
  }
};

export const unreadable = (cause?: unknown) =>
  fail('engine_unreachable', 'The engine sent an answer that cannot be read', { cause });
