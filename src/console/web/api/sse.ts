/** Reads server-sent events from a response as they arrive. */

export interface ServerEvent {
  /** `message` unless named. */
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
  /** Its lines as they were sent. */
  readonly raw: string;
  /** When its last byte was read; of `performance.now`. */
  readonly at: number;
}

/** Characters of one event; a server that sends more is broken. */
const mostCharacters = 64 * 1024 * 1024;

/** Leaving the loop cancels the response. */
export async function* readEvents(response: Pick<Response, 'body'>): AsyncGenerator<ServerEvent> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const parser = new EventParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      yield* parser.push(done ? decoder.decode() : decoder.decode(value, { stream: true }));
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

const lineEnd = /\r\n|\n|\r/g;

/** By the rules of the HTML standard; an event without its blank line is dropped. */
export class EventParser {
  #rest = '';
  #event = '';
  #data: string[] = [];
  #id: string | undefined;
  #raw = '';

  push(text: string): ServerEvent[] {
    const at = performance.now();
    const events: ServerEvent[] = [];
    const all = this.#rest + text;
    let start = 0;
    const ends = new RegExp(lineEnd);
    // What was left over has no line end, except perhaps the carriage return at its end.
    ends.lastIndex = Math.max(0, this.#rest.length - 1);
    for (const match of all.matchAll(ends)) {
      const end = match.index + match[0].length;
      // The line feed of this carriage return may still come.
      if (match[0] === '\r' && end === all.length) break;
      const line = all.slice(start, match.index);
      start = end;
      if (line !== '') this.#line(line);
      else {
        const event = this.#take(at);
        if (event !== undefined) events.push(event);
      }
    }
    this.#rest = all.slice(start);
    if (this.#rest.length + this.#raw.length > mostCharacters)
      throw new Error('An event of the stream is too large');
    return events;
  }

  #line(line: string): void {
    this.#raw += `${line}\n`;
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') this.#data.push(value);
    else if (name === 'event') this.#event = value;
    else if (name === 'id') this.#id = value;
  }

  #take(at: number): ServerEvent | undefined {
    const [event, data, raw] = [this.#event, this.#data, this.#raw];
    this.#event = '';
    this.#data = [];
    this.#raw = '';
    if (data.length === 0) return undefined;
    return { event: event === '' ? 'message' : event, data: data.join('\n'), id: this.#id, raw, at };
  }
}
