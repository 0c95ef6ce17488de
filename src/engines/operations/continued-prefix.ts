/** Removes the continued message from whole answers of engines that repeat it before the text they add. */
import type { Model } from '../../../schemas/catalog.ts';
import { type ChatCall, fromJsonText, type Part, type Parts, toJsonText } from '../../ports/engines/chat.ts';

/** Characters from which on a model does not begin with the same text by chance. */
const unmistakable = 8;

/** Seen to be sent only what is added: short texts that they begin with are their own. By the catalog's objects. */
const addsOnly = new WeakSet<Model>();

/** The parts of a whole answer to a call that continues its final message. */
export const withoutContinued = (model: Model, { messages }: ChatCall, parts: Parts): Parts => {
  const prefix = textOf(messages.at(-1));
  if (prefix === '') return parts;
  const seen = new Set<number>();
  return parts.map((part) => {
    if (part.type !== 'text' || part.text === '' || seen.has(part.choice)) return part;
    seen.add(part.choice);
    return withoutPrefix(model, part, prefix);
  });
};

const withoutPrefix = (model: Model, part: Extract<Part, { type: 'text' }>, prefix: string): Part => {
  const text = fromJsonText(part.text);
  if (!text.startsWith(prefix)) {
    addsOnly.add(model);
    return part;
  }
  if (prefix.length < unmistakable && addsOnly.has(model)) return part;
  const { type, choice, logprobs } = part;
  return { type, choice, text: toJsonText(text.slice(prefix.length)), logprobs };
};

/** As engines are sent it. */
const textOf = (message: ChatCall['messages'][number] | undefined): string =>
  message?.role === 'assistant' ? message.content.map(({ text }) => text).join('\n') : '';
