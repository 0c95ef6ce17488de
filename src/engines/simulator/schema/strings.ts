/** The string keywords of a schema in; a string that meets them out, with words of the conversation where it can. */
import { noun, statement } from '../prose.ts';
import type { Random } from '../random.ts';
import { type Budget, SchemaProblem } from './budget.ts';
import type { Keywords } from './keywords.ts';
import { matchingText } from './pattern.ts';

/** What the conversation offers: each hint is used once, in order, before words are made up. */
export interface Words {
  readonly topics: readonly string[];
  readonly hints: string[];
}

/** Properties that hold prose rather than a name or a label. */
const proseNames =
  /text|answer|summary|descri|reason|expla|content|message|comment|note|body|steps?$|thought/i;

export function makeString(
  keywords: Keywords,
  name: string,
  words: Words,
  random: Random,
  budget: Budget,
): string {
  const low = Math.max(0, Math.ceil(keywords.minLength ?? 0));
  const high = Math.floor(keywords.maxLength ?? Number.POSITIVE_INFINITY);
  if (low > high) throw new SchemaProblem('asks for a string longer than its own "maxLength"');
  budget.text(low);
  const format = keywords.format === undefined ? undefined : formats.get(keywords.format);
  const text =
    keywords.pattern !== undefined
      ? matchingText(keywords.pattern, random, low, high)
      : (format?.(random) ?? fitLength(freeText(name, words, random, high), low, high, random));
  budget.text(text.length);
  return text;
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

const two = (value: number): string => String(value).padStart(2, '0');
const date = (random: Random): string =>
  `${random.integer(2000, 2035)}-${two(random.integer(1, 12))}-${two(random.integer(1, 28))}`;
const time = (random: Random): string =>
  `${two(random.integer(0, 23))}:${two(random.integer(0, 59))}:${two(random.integer(0, 59))}Z`;
const host = (random: Random): string => `${noun(random)}.example.com`;
const uuid = (random: Random): string =>
  `${random.hex(8)}-${random.hex(4)}-4${random.hex(3)}-${random.pick(['8', '9', 'a', 'b'])}${random.hex(3)}-${random.hex(12)}`;
const address = (random: Random): string => `https://${host(random)}/${noun(random)}`;
const email = (random: Random): string => `${noun(random)}@example.com`;

const formats: ReadonlyMap<string, (random: Random) => string> = new Map([
  ['date-time', (random) => `${date(random)}T${time(random)}`],
  ['date', date],
  ['time', time],
  ['duration', (random) => `PT${random.integer(1, 59)}M`],
  ['email', email],
  ['idn-email', email],
  ['hostname', host],
  ['idn-hostname', host],
  ['ipv4', (random) => `192.0.2.${random.integer(1, 254)}`],
  ['ipv6', (random) => `2001:db8::${random.integer(1, 9999)}`],
  ['uri', address],
  ['url', address],
  ['iri', address],
  ['uri-reference', (random) => `/${noun(random)}`],
  ['iri-reference', (random) => `/${noun(random)}`],
  ['uri-template', (random) => `/${noun(random)}/{id}`],
  ['uuid', uuid],
  ['json-pointer', (random) => `/${noun(random)}`],
  ['relative-json-pointer', (random) => `0/${noun(random)}`],
  ['regex', (random) => `^${noun(random)}$`],
]);
