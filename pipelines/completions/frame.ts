/** Frames a text completion: one JSON object, or a stream of chunks. */
import type { Observer } from 'rxjs';
import { quoted } from '../../src/helpers/quoted.ts';
import { type Logprob, type TokenUsage, toJsonText } from '../../src/ports/engines/chat.ts';
import { jsonTextReply, type Reply } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { usageJson } from '../chat/completion-json.ts';
import type { CompletionTask } from '../conversation/chat-task.ts';
import { defaultFinish, type Finish } from '../conversation/finishes.ts';
import { StreamFrame } from '../conversation/frame-stream.ts';
import type { SettledPart, SettledParts } from '../conversation/settle.ts';
import { eventStreamHead, type Framing, responseKey } from '../core/frame.ts';
import { Forwarder, type Transform, transform } from '../core/stage.ts';
import { type CompletionForm, finishReason } from './completion-form.ts';
import { CompletionChunks } from './frame-stream.ts';
import { logprobsJson } from './logprobs-json.ts';
import type { CompletionFraming } from './read-request.ts';

export const frameCompletion = (
  ports: Pick<Ports, 'provider'>,
): Transform<SettledParts, Reply, Framing<CompletionTask<CompletionFraming>>> => {
  const provider = quoted(ports.provider);
  return transform((next, { exchange, task: { model, call, framing } }) => {
    const created = Math.floor(Date.now() / 1000);
    const echoed = framing.echoed?.map(toJsonText);
    const form: CompletionForm = {
      head: `"id":"cmpl-${responseKey(exchange)}","object":"text_completion","created":${created},"model":${quoted(model.id)},"provider":${provider}`,
      choices: call.prompts.length * call.n,
      logprobs: call.logprobs !== undefined,
      includeUsage: framing.includeUsage,
      echoed: (choice) => echoed?.[Math.floor(choice / call.n)] ?? '',
    };
    return call.stream
      ? new StreamFrame(next, eventStreamHead, new CompletionChunks(form))
      : new CompletionWhole(next, form);
  });
};

export class CompletionWhole extends Forwarder<SettledParts, Reply> {
  readonly #form: CompletionForm;
  readonly #choices: readonly Choice[];

  constructor(receiver: Observer<Reply>, form: CompletionForm) {
    super(receiver);
    this.#form = form;
    this.#choices = Array.from({ length: form.choices }, (_, index) => new Choice(index, form.echoed(index)));
  }

  next(parts: SettledParts): void {
    for (const part of parts) {
      if (part.type === 'usage') {
        this.receiver.next(jsonTextReply(this.#json(part.usage)));
        this.receiver.complete();
      } else this.#choices[part.choice]?.add(part);
    }
  }

  #json(usage: TokenUsage): string {
    const choices = this.#choices.map((choice) => choice.json(this.#form.logprobs));
    return `{${this.#form.head},"choices":[${choices.join(',')}],"usage":${usageJson(usage)}}`;
  }
}

/** One of the choices as it grows; its text stays escaped. */
class Choice {
  readonly #index: number;
  readonly #logprobs: Logprob[] = [];
  #text: string;
  #finish: Finish;

  constructor(index: number, echoed: string) {
    this.#index = index;
    this.#text = echoed;
    this.#finish = defaultFinish(index);
  }

  add(part: Exclude<SettledPart, { type: 'usage' }>): void {
    if (part.type === 'finish') this.#finish = part;
    if (part.type !== 'text') return;
    this.#text += part.text;
    for (const logprob of part.logprobs ?? []) this.#logprobs.push(logprob);
  }

  json(withLogprobs: boolean): string {
    const logprobs = withLogprobs ? logprobsJson(this.#logprobs, 0) : 'null';
    return `{"text":"${this.#text}","index":${this.#index},"logprobs":${logprobs},"finish_reason":"${finishReason(this.#finish)}"}`;
  }
}
