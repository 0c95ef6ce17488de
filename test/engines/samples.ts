/** What an engine's answers are read with, and as: a model that thinks; parts as tests compare them. */
import { fromJsonText, type Parts } from '../../src/ports/chat.ts';
import { sampleModel } from '../samples.ts';

export const thinker = sampleModel({ reasoning: { mandatory: false } });

/** Parts with their texts unescaped: two escapings of one text are equal. */
export const readable = (parts: Parts) =>
  parts.map((part) => ('text' in part ? { ...part, text: fromJsonText(part.text) } : part));

type ReadablePart = ReturnType<typeof readable>[number];

/** Runs of text, reasoning or arguments joined into one, so that expectations stay short. */
export const joined = (parts: Parts): readonly ReadablePart[] => {
  const list: ReadablePart[] = [];
  for (const part of readable(parts)) {
    const last = list.at(-1);
    if (last !== undefined && 'text' in last && 'text' in part && sameRun(last, part)) {
      list[list.length - 1] = { ...last, text: last.text + part.text };
    } else list.push(part);
  }
  return list;
};

const sameRun = (left: ReadablePart, right: ReadablePart): boolean =>
  left.type === right.type &&
  'choice' in left &&
  'choice' in right &&
  left.choice === right.choice &&
  !('logprobs' in left) &&
  !('logprobs' in right) &&
  (!('call' in left) || !('call' in right) || left.call === right.call);
