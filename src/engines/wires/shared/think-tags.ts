/** Separates reasoning between `<think>` tags from text, however the tokens are split. */
import { fromJsonText, type JsonText, toJsonText } from '../../../ports/engines/chat.ts';

const OPEN = '<think>';
const CLOSE = '</think>';
/** White space around the tags is the template's, not the model's; more than this is not waited out. */
const SPACE_LIMIT = 64;

interface ThinkSink {
  text(text: JsonText): void;
  reasoning(text: JsonText): void;
}

/** Tags count only where a model's template puts them: thinking first, answer after. Tags within the answer are text. */
export class ThinkTags {
  readonly #sink: ThinkSink;
  #state: 'start' | 'opened' | 'thinking' | 'closed' | 'answer';
  /** Text that may be part of a tag. */
  #held = '';

  /** `opened`: the text begins behind an opening tag. */
  constructor(sink: ThinkSink, opened = false) {
    this.#sink = sink;
    this.#state = opened ? 'thinking' : 'start';
  }

  /** Behind an opening tag, and before any text of the answer. */
  get isThinking(): boolean {
    return this.#state !== 'start' && this.#state !== 'answer';
  }

  push(text: JsonText): void {
    if (this.#state === 'answer') this.#sink.text(text);
    else if (this.#state === 'thinking' && this.#held === '' && isPlain(text)) {
      this.#sink.reasoning(text);
    } else this.#split(this.#held + fromJsonText(text));
  }

  /** The engine separates reasoning itself: no tags to look for. */
  stop(): void {
    if (this.#state === 'start' && this.#held === '') this.#state = 'answer';
  }

  /** No more text: what was held back is emitted as it is. */
  flush(): void {
    const held = this.#held;
    this.#held = '';
    if (held === '') return;
    if (this.#state === 'thinking') this.#reasoning(held);
    else this.#text(held);
  }

  #split(text: string): void {
    this.#held = '';
    if (this.#state === 'start') this.#decide(text);
    else if (this.#state === 'opened') this.#skipSpace(text, 'thinking');
    else if (this.#state === 'thinking') this.#think(text);
    else if (this.#state === 'closed') this.#skipSpace(text, 'answer');
    else this.#text(text);
  }

  #decide(text: string): void {
    const words = text.trimStart();
    if (words.startsWith(OPEN)) {
      this.#state = 'opened';
      this.#split(words.slice(OPEN.length));
    } else if (OPEN.startsWith(words) && text.length - words.length <= SPACE_LIMIT) {
      this.#held = text;
    } else {
      this.#state = 'answer';
      this.#text(text);
    }
  }

  #skipSpace(text: string, next: 'thinking' | 'answer'): void {
    const words = text.trimStart();
    if (words === '') return;
    this.#state = next;
    this.#split(words);
  }

  #think(text: string): void {
    const close = text.indexOf(CLOSE);
    if (close >= 0) {
      this.#reasoning(text.slice(0, close).trimEnd());
      this.#state = 'closed';
      this.#split(text.slice(close + CLOSE.length));
      return;
    }
    const tag = text.length - partialTag(text);
    const end = Math.max(text.slice(0, tag).trimEnd().length, tag - SPACE_LIMIT);
    this.#held = text.slice(end);
    this.#reasoning(text.slice(0, end));
  }

  #text(text: string): void {
    if (text !== '') this.#sink.text(toJsonText(text));
  }

  #reasoning(text: string): void {
    if (text !== '') this.#sink.reasoning(toJsonText(text));
  }
}

/** No tag can begin in it, nor the space before one, written plainly or escaped. */
const isPlain = (text: JsonText): boolean =>
  !text.includes('<') && !text.includes('\\') && text.trimEnd().length === text.length;

/** Length of the longest end of the text with which a closing tag could begin. */
const partialTag = (text: string): number => {
  const from = text.lastIndexOf('<');
  return from >= 0 && CLOSE.startsWith(text.slice(from)) ? text.length - from : 0;
};
