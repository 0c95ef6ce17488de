/** Writes text completions, streamed or whole, with the quirks that apply to them. */
import {
  fromJsonText,
  type Logprob,
  type Part,
  type Parts,
  type TokenUsage,
} from '../../ports/engines/chat.ts';
import type { StreamHead } from './chunks.ts';
import { EventWriter } from './events.ts';
import type { Quirks } from './quirks.ts';
import { engineError, engineUsage } from './responses.ts';
import type { PacketWriter, WholeWriter } from './sinks.ts';

const headJson = ({ id, created, model }: StreamHead): string =>
  JSON.stringify({ id, object: 'text_completion', created, model }).slice(0, -1);

/** As vLLM writes them. */
export class CompletionChunkWriter implements PacketWriter {
  readonly #head: StreamHead;
  readonly #quirks: Quirks;
  readonly #events: EventWriter;
  readonly #start: string;
  readonly #offsets = new Map<number, number>();

  constructor(head: StreamHead, quirks: Quirks) {
    this.#head = head;
    this.#quirks = quirks;
    this.#events = new EventWriter(quirks);
    this.#start = headJson(head);
  }

  write(parts: Parts): string | Buffer {
    return this.#events.packet(parts.map((part) => this.#part(part)).join(''));
  }

  end(): string | Buffer {
    return this.#events.lastPacket(this.#events.done());
  }

  #part(part: Part): string {
    switch (part.type) {
      case 'text':
        return this.#chunk({
          index: part.choice,
          text: fromJsonText(part.text),
          logprobs: this.#logprobs(part.choice, part.logprobs),
          finish_reason: null,
        });
      case 'finish':
        return this.#chunk({
          index: part.choice,
          text: '',
          logprobs: null,
          finish_reason: part.reason,
          stop_reason: part.stopSequence ?? null,
        });
      case 'usage': {
        if (!this.#head.includeUsage || this.#quirks.has('no_usage')) return '';
        const usage = JSON.stringify(engineUsage(part.usage));
        return this.#events.event(`${this.#start},"choices":[],"usage":${usage}}`);
      }
      case 'failure':
        return this.#events.event(JSON.stringify(engineError(part.error)));
      default:
        return '';
    }
  }

  #logprobs(choice: number, logprobs: readonly Logprob[] | undefined) {
    if (logprobs === undefined) return null;
    const offset = this.#offsets.get(choice) ?? 0;
    this.#offsets.set(choice, offset + logprobs.reduce((sum, { token }) => sum + token.length, 0));
    return logprobLists(logprobs, offset);
  }

  #chunk(choice: object): string {
    const usage = this.#quirks.has('null_usage') ? ',"usage":null' : '';
    return this.#events.event(`${this.#start},"choices":[${JSON.stringify(choice)}]${usage}}`);
  }
}

interface Choice {
  text: string;
  readonly logprobs: Logprob[];
  finish: (Part & { type: 'finish' }) | undefined;
}

export const wholeCompletion = (head: StreamHead, quirks: Quirks): WholeWriter => {
  const choices: Choice[] = [];
  let usage: TokenUsage | undefined;
  return {
    add(parts) {
      for (const part of parts) {
        if (part.type === 'usage') usage = part.usage;
        else if (part.type === 'text' || part.type === 'finish') {
          choices[part.choice] ??= { text: '', logprobs: [], finish: undefined };
          addTo(choices[part.choice] as Choice, part);
        }
      }
    },
    json() {
      const all = choices.map(({ text, logprobs, finish }, index) => ({
        index,
        text,
        logprobs: logprobs.length > 0 ? logprobLists(logprobs, 0) : null,
        finish_reason: finish?.reason ?? null,
        stop_reason: finish?.stopSequence ?? null,
      }));
      const counted = quirks.has('no_usage') || usage === undefined ? null : engineUsage(usage);
      return `${headJson(head)},"choices":${JSON.stringify(all)},"usage":${JSON.stringify(counted)}}`;
    },
  };
};

const addTo = (choice: Choice, part: Part & { type: 'text' | 'finish' }): void => {
  if (part.type === 'finish') {
    choice.finish = part;
    return;
  }
  choice.text += fromJsonText(part.text);
  choice.logprobs.push(...(part.logprobs ?? []));
};

const logprobLists = (logprobs: readonly Logprob[], offset: number) => {
  let at = offset;
  return {
    text_offset: logprobs.map(({ token }) => {
      at += token.length;
      return at - token.length;
    }),
    token_logprobs: logprobs.map(({ logprob }) => logprob),
    tokens: logprobs.map(({ token }) => token),
    top_logprobs: logprobs.map(({ logprob, top_logprobs: top }) =>
      logprob === null ? null : Object.fromEntries(top.map((one) => [one.token, one.logprob])),
    ),
  };
};
