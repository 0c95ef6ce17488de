/** Writes plain sentences about the topics of a question, token by token. */

import { splitTokens } from '../../tokens/simulator.ts';
import type { Random } from '../random.ts';
import type { Conversation } from './conversation.ts';

// biome-ignore format: one word a line would hide the sentences below
const nouns = [
  'time', 'water', 'light', 'paper', 'music', 'weather', 'language', 'history', 'balance', 'memory',
  'practice', 'patience', 'colour', 'distance', 'order', 'detail', 'pressure', 'motion', 'trust', 'habit',
] as const;

/** `#` stands for a topic of the question, `*` for any noun. */
const statements = [
  ' A good place to start with # is *.',
  ' In practice, # depends on *, * and a little *.',
  ' When * changes, # usually follows.',
  ' It helps to compare # with *.',
  ' Most people begin with * and come to * later.',
  ' The short answer is that # works a lot like *.',
  ' Keep * small, and * stays clear.',
  ' There are three parts to it: *, * and *.',
  ' You can test # with nothing more than * and *.',
  ' What looks like * is often only *.',
] as const;

const thoughts = [
  ' The question is about #.',
  ' I should mention * first.',
  ' Then # can be explained through *.',
  ' Is * really needed here? Probably not.',
  ' Let me check that * and # do not contradict each other.',
  ' A short answer with * will be enough.',
  ' They may also want to hear about *.',
] as const;

const resultLimit = 400;

/** An answer to a conversation: `tokens` long when given, otherwise a few sentences. */
export function answerText(
  conversation: Conversation,
  random: Random,
  tokens: number | undefined,
): Iterator<string, undefined> {
  const opening = openingOf(conversation);
  if (tokens !== undefined) return exactly(tokens, endless(opening, statements, conversation.topics, random));
  let text = opening;
  const count = random.integer(2, 4);
  for (let index = 0; index < count; index += 1)
    text += sentence(random.pick(statements), conversation.topics, random);
  return splitTokens(text);
}

/** Continues a text that the simulator did not begin. */
export function continuation(
  begun: string,
  topics: readonly string[],
  random: Random,
  tokens: number | undefined,
): Iterator<string, undefined> {
  const next = statement(topics, random);
  const opening = /[.!?]$/.test(begun) ? ` ${next}` : ` ${next.charAt(0).toLowerCase()}${next.slice(1)}`;
  return tokens === undefined
    ? splitTokens(opening)
    : exactly(tokens, endless(opening, statements, topics, random));
}

/** Thinking aloud before the answer, exactly `tokens` long. */
export function thoughtText(
  topics: readonly string[],
  random: Random,
  tokens: number,
): Iterator<string, undefined> {
  return exactly(tokens, endless('', thoughts, topics, random));
}

/** One statement about the topics, without the space in front. */
export function statement(topics: readonly string[], random: Random): string {
  return sentence(random.pick(statements), topics, random).trimStart();
}

export const noun = (random: Random): string => random.pick(nouns);

function openingOf(conversation: Conversation): string {
  const { topics, media, results } = conversation;
  const asked =
    topics.length === 0 ? 'You asked nothing in particular.' : `You asked about ${listed(topics)}.`;
  const seen = media.length === 0 ? '' : ` You sent ${listed(media.slice(0, 8), ';')}.`;
  const told = results.slice(-4).map(({ name, text }) => {
    const shown = text.length > resultLimit ? `${text.slice(0, resultLimit)}…` : text;
    return ` According to ${name}: ${shown.trim()}${/[.!?…]$/.test(shown.trim()) ? '' : '.'}`;
  });
  return asked + seen + told.join('');
}

function listed(items: readonly string[], comma = ','): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(`${comma} `)} and ${items.at(-1)}`;
}

/** No word fills two slots of the same sentence if another can be found. */
function sentence(template: string, topics: readonly string[], random: Random): string {
  const used = new Set<string>();
  return template.replace(/[#*]/g, (slot) => {
    const topic = slot === '#' ? topics[random.integer(0, topics.length - 1)] : undefined;
    let word = topic ?? noun(random);
    for (let tries = 0; topic === undefined && used.has(word) && tries < 8; tries += 1) word = noun(random);
    used.add(word);
    return word;
  });
}

function* endless(
  opening: string,
  templates: readonly [string, ...string[]],
  topics: readonly string[],
  random: Random,
): Generator<string, undefined> {
  let text = opening === '' ? sentence(random.pick(templates), topics, random).trimStart() : opening;
  for (;;) {
    yield* splitTokens(text);
    text = sentence(random.pick(templates), topics, random);
  }
}

/** The first tokens of an endless text, closed by a full stop. */
function* exactly(count: number, tokens: Iterator<string, undefined>): Generator<string, undefined> {
  for (let index = 0; index < count - 1; index += 1) {
    const token = tokens.next().value ?? '.';
    yield index === count - 2 && token === '.' ? ' here' : token;
  }
  if (count > 0) yield count === 1 ? 'Yes' : '.';
}
