/** A reasoning model and a comparable form of parts for decoder tests. */
import assert from 'node:assert/strict';
import { fromJsonText, type Parts } from '../../src/ports/engines/chat.ts';
import { sampleModel } from '../samples.ts';

export const thinker = sampleModel({ reasoning: { mandatory: false } });

/** Parts with their texts unescaped: two escapings of one text are equal. Where a text comes as bytes, they say the same. */
export const readable = (parts: Parts) =>
  parts.map((part) => {
    if (!('text' in part)) return part;
    if (part.type !== 'text') return { ...part, text: fromJsonText(part.text) };
    const { type, choice, text, bytes, logprobs } = part;
    if (bytes !== undefined) assert.equal(Buffer.from(bytes).toString(), text);
    return { type, choice, text: fromJsonText(text), ...(logprobs === undefined ? {} : { logprobs }) };
  });

type ReadablePart = ReturnType<typeof readable>[number];

/** Runs of text, reasoning or arguments joined into one, so that expectations stay short. */
export const joined = (parts: Parts): readonly ReadablePart[] => {
  const list: ReadablePart[] = [];
  for (const part of readable(parts)) {
    const last = list.at(-1);
    if (last !== undefined && 'text' in last && 'text' in part && sameRun(last, part)) {
      list[list.length - 1] = { ...last, ...part, text: last.text + part.text };
    } else list.push(part);
  }
  return list;
};

const sameRun = (left: ReadablePart, right: ReadablePart): boolean =>
  left.type === right.type &&
  'choice' in left &&
  'choice' in right &&
  left.choice === right.choice &&
  !('signature' in left) &&
  !('logprobs' in left) &&
  !('logprobs' in right) &&
  (!('call' in left) || !('call' in right) || left.call === right.call);
