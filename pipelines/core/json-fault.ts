/** Says what is wrong in a text that is not valid JSON, and where. */

/** Not taken from JSON.parse: its messages differ between versions, and some have no position. */
export const jsonFault = (text: string): string => {
  const at = new Scanner(text).firstFault();
  const { line, column } = position(text, at);
  const found = at >= text.length ? 'unexpected end' : `unexpected ${character(text, at)}`;
  return `${found} at line ${line} column ${column}`;
};

const position = (text: string, at: number): { line: number; column: number } => {
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
};

const character = (text: string, at: number): string =>
  JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0));

const space = /[ \t\n\r]*/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** All that a string may hold unescaped: from the space on, but for the quote and the backslash. */
const plainText = /[ !#-[\]-\uffff]*/y;
const escapeSequence = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
const words = ['true', 'false', 'null'];

/** Keeps its own stack, so that depth is no danger. */
class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Offset of the first unexpected character; the length of the text when it ends too early. */
  firstFault(): number {
    const open: ('{' | '[')[] = [];
    for (;;) {
      // A value, or what opens one.
      this.#skip(space);
      const start = this.#text[this.#at];
      if (start === '{' || start === '[') {
        this.#at++;
        this.#skip(space);
        if (this.#text[this.#at] !== (start === '{' ? '}' : ']')) {
          open.push(start);
          if (start === '{' && !this.#name()) return this.#at;
          continue;
        }
        this.#at++;
      } else if (!this.#scalar()) return this.#at;
      // What may follow a value.
      for (;;) {
        this.#skip(space);
        const inside = open.at(-1);
        const next = this.#text[this.#at];
        if (inside === undefined) return this.#at;
        if (next === ',') {
          this.#at++;
          if (inside === '{' && !this.#name()) return this.#at;
          break;
        }
        if (next !== (inside === '{' ? '}' : ']')) return this.#at;
        open.pop();
        this.#at++;
      }
    }
  }

  #name(): boolean {
    this.#skip(space);
    if (!this.#string()) return false;
    this.#skip(space);
    if (this.#text[this.#at] !== ':') return false;
    this.#at++;
    return true;
  }

  #scalar(): boolean {
    if (this.#text[this.#at] === '"') return this.#string();
    const word = words.find((candidate) => candidate[0] === this.#text[this.#at]);
    if (word === undefined) return this.#skip(number);
    for (const letter of word) {
      if (this.#text[this.#at] !== letter) return false;
      this.#at++;
    }
    return true;
  }

  #string(): boolean {
    if (this.#text[this.#at] !== '"') return false;
    this.#at++;
    do this.#skip(plainText);
    while (this.#skip(escapeSequence));
    if (this.#text[this.#at] !== '"') return false;
    this.#at++;
    return true;
  }

  /** True when it moved on. */
  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const length = pattern.exec(this.#text)?.[0].length ?? 0;
    this.#at += length;
    return length > 0;
  }
}
