/** The body of a whole answer in, its parts out, all at once. */
import { randomUUID } from 'node:crypto';
import { fail } from '../../../errors.ts';
import type { JsonText, Parts } from '../../../ports/chat.ts';
import { Answer, type AnswerOptions, type Aside } from './answer.ts';
import { closingQuote } from './skeleton.ts';

/** Nobody outside can know it, so a string that equals it is the one put there. */
const MARK = randomUUID();
const CONTENT = '"content":"';

export const decodeWhole = (body: Buffer, options: AnswerOptions): Parts => {
  const json = body.toString('utf8');
  const aside = contentOf(json);
  const answer = new Answer(aside === undefined ? options : { ...options, aside });
  answer.push(parsed(aside === undefined ? json : aside.rest));
  answer.end(true);
  if (answer.failure !== undefined) throw answer.failure;
  return answer.take();
};

/** The first text in the answer, escaped as it is, and the rest with a mark in its place: the long part of an answer is neither unescaped nor escaped again. */
const contentOf = (json: string): (Aside & { readonly rest: string }) | undefined => {
  const from = json.indexOf(CONTENT) + CONTENT.length;
  if (from < CONTENT.length) return undefined;
  const to = closingQuote(json, from);
  if (to <= from) return undefined;
  const rest = json.slice(0, from) + MARK + json.slice(to);
  return { mark: MARK, text: json.slice(from, to) as JsonText, rest };
};

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw fail('engine_unreachable', 'The engine sent an answer that cannot be read', { cause });
  }
};
