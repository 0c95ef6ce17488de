/** Makes a string that meets the keywords of a schema, from the conversation where possible. */
import { noun, statement } from '../chat/prose.ts';
import type { Random } from '../random.ts';
import { type Budget, SchemaProblem } from './budget.ts';
import type { Maker, Words } from './flatten.ts';
import { makeFormatted } from './formats.ts';
import type { Keywords } from './keywords.ts';
import { matches, matchingText } from './pattern.ts';

/** Properties that hold prose rather than a name or a label. */
const proseNames =
  /text|answer|summary|descri|reason|expla|content|message|comment|note|body|steps?$|thought/i;

export function makeString(keywords: Keywords, name: string, { words, random, budget }: Maker): string {
  const low = Math.max(0, Math.ceil(keywords.minLength ?? 0));
  const high = Math.floor(keywords.maxLength ?? Number.POSITIVE_INFINITY);
  if (low > high) throw new SchemaProblem('asks for a string longer than its own "maxLength"');
  budget.text(low);
  const text =
    formattedText(keywords, random, budget) ??
    (keywords.pattern === undefined
      ? fitLength(freeText(name, words, random, high), low, high, random)
      : matchingText(keywords.pattern, { random, budget }, low, high));
  budget.text(text.length);
  return text;
}

/** Beside a format a pattern only says it again, or says no. */
function formattedText({ format, pattern }: Keywords, random: Random, budget: Budget): string | undefined {
  const text = format === undefined ? undefined : makeFormatted(format, random);
  return text === undefined || pattern === undefined || matches(pattern, text, budget) ? text : undefined;
}

function freeText(name: string, words: Words, random: Random, high: number): string {
  if (proseNames.test(name) && high > 60) return statement(words.topics, random);
  const hint = words.hints.findIndex((one) => !isNumeric(one) && one.length <= high);
  if (hint !== -1) return words.hints.splice(hint, 1)[0] ?? '';
  return words.topics[random.integer(0, words.topics.length)] ?? noun(random);
}

export const isNumeric = (text: string): boolean => /^-?\d+(\.\d+)?$/.test(text);

/** Lengths count characters, not UTF-16 units. */
function fitLength(text: string, low: number, high: number, random: Random): string {
  let long = text;
  let length = [...long].length;
  while (length < low) {
    const more = ` ${noun(random)}`;
    long += more;
    length += more.length;
  }
  return length > high ? [...long].slice(0, high).join('') : long;
}
