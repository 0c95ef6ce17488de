/** Cuts the text for a custom tool out of the JSON arguments that the engine streams. */
import { fromJsonText, type JsonText, toJsonText } from '../../src/ports/engines/chat.ts';

/** What stands before the text: the one parameter of the function that a custom tool becomes. */
const opening = /^\s*\{\s*"input"\s*:\s*"/;
/** Every beginning of it. */
const begun = /^\s*(?:\{\s*(?:"(?:i(?:n(?:p(?:u(?:t(?:"\s*(?::\s*)?)?)?)?)?)?)?)?)?$/;
/** It is not searched for beyond. */
const longestOpening = 256;

/** Escapes of the arguments are those of our JSON; what is neither an escape nor plain text is escaped. */
const special = /\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])|[^ -[\]-\ud7ff\ue000-\uffff]/g;

export class CustomInput {
  #state: 'before' | 'inside' | 'after' = 'before';
  /** Before the text: the arguments so far. Inside: an escape that is not complete. */
  #held = '';

  /** The next of the text, empty while there is none. */
  add(argumentsText: JsonText): JsonText {
    if (this.#state === 'after') return nothing;
    this.#held += fromJsonText(argumentsText);
    if (this.#state === 'before') {
      const found =
        this.#held.length > longestOpening + argumentsText.length ? null : opening.exec(this.#held);
      if (found === null) return nothing;
      this.#state = 'inside';
      this.#held = this.#held.slice(found[0].length);
    }
    return this.#inside();
  }

  #inside(): JsonText {
    const text = this.#held;
    const end = textEnd(text);
    if (text[end] === '"') this.#state = 'after';
    this.#held = this.#state === 'after' ? '' : text.slice(end);
    return text.slice(0, end).replace(special, escaped) as JsonText;
  }

  /** The rest, at the end of the arguments: all of them where they are not as expected. */
  end(): JsonText {
    const text = this.#state === 'before' ? this.#held : '';
    this.#state = 'after';
    this.#held = '';
    return begun.test(text) ? nothing : toJsonText(inputOf(text));
  }
}

const nothing = '' as JsonText;

/** Where the text ends: at its quote, at an escape that is not complete, or nowhere yet. */
const textEnd = (text: string): number => {
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') return at;
    if (text[at] !== '\\') continue;
    if (at + 1 === text.length || (text[at + 1] === 'u' && at + 6 > text.length)) return at;
    at++;
  }
  return text.length;
};

const escaped = (found: string): string => (found.length > 1 ? found : toJsonText(found));

/** Arguments in another order, or with fields that nobody asked for. */
const inputOf = (text: string): string => {
  try {
    const parsed: unknown = JSON.parse(text);
    if (
      typeof parsed === 'object' &&
      parsed !== null &&
      'input' in parsed &&
      typeof parsed.input === 'string'
    )
      return parsed.input;
  } catch {
    // Not JSON: a model that wrote the text itself.
  }
  return text;
};
