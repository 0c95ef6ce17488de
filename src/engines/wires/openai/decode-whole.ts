/** The body of a whole answer in, its parts out, all at once. */
import { randomBytes } from 'node:crypto';
import { fail } from '../../../errors.ts';
import { type JsonText, type Parts, toJsonText } from '../../../ports/chat.ts';
import { Answer, type AnswerOptions } from './answer.ts';

export const decodeWhole = (body: Buffer, options: AnswerOptions): Parts =>
  decodeAround(body, options) ?? partsOf(parsed(body.toString('utf8')), options);

const partsOf = (value: unknown, options: AnswerOptions, asJsonText = toJsonText): Parts => {
  const answer = new Answer(options, asJsonText);
  answer.push(value);
  answer.end(true);
  if (answer.failure !== undefined) throw answer.failure;
  return answer.take();
};

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw fail('engine_unreachable', 'The engine sent an answer that cannot be read', { cause });
  }
};

/** What no answer has in it. */
const standIn = randomBytes(16).toString('hex');
const opening = '"content":"';
const quote = '"';
const backslash = 92;
const notAscii = /[^\0-\x7f]/;
/** What may not stand in a JSON string; and behind an escaped backslash also some of what may. */
const suspicious = /[^ -\xff]|\\(?!["\\/bfnrt]|u[\da-fA-F]{4})/;

/**
 * Its text is taken as it stands, and something else is read in its place: unescaping and escaping it costs as much as
 * all the rest. Undefined when the text is not where it is looked for, or should better be looked at.
 */
const decodeAround = (body: Buffer, options: AnswerOptions): Parts | undefined => {
  const json = body.toString('latin1');
  const from = json.indexOf(opening) + opening.length;
  const to = from < opening.length ? -1 : endOfText(json, from);
  if (to < 0 || suspicious.test(json.slice(from, to))) return undefined;
  const rest = `${json.slice(0, from)}${standIn}${json.slice(to)}`;
  if (notAscii.test(rest)) return undefined;
  let seen = false;
  const asJsonText = (text: string): JsonText => {
    if (text !== standIn) return toJsonText(text);
    seen = true;
    return body.toString('utf8', from, to) as JsonText;
  };
  const parts = partsOf(parsed(rest), options, asJsonText);
  return seen ? parts : undefined;
};

/** Where the quote is that is not escaped; below 0 when there is none. */
const endOfText = (json: string, from: number): number => {
  let at = json.indexOf(quote, from);
  while (at >= 0 && isEscaped(json, at)) at = json.indexOf(quote, at + 1);
  return at;
};

const isEscaped = (json: string, at: number): boolean => {
  let first = at;
  while (json.charCodeAt(first - 1) === backslash) first--;
  return (at - first) % 2 === 1;
};
