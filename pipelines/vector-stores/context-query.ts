/** A conversation in; the text that its last question is searched by out, empty when there is none. */
import type { ChatMessage } from '../../src/ports/chat.ts';

/** A question of fewer words leans on what was said before. */
const wordsOfItsOwn = 8;
/** Turns that a short question is read together with. */
const earlierTurns = 2;
/** Characters of each. */
const longestTurn = 2000;

/** A line such as `/no_think` is a command to the model: it has no subject. */
const command = /^\/[a-z_]+(?:[ \t].*)?$/gm;

export const contextQuery = (messages: readonly ChatMessage[]): string => {
  const turns = messages
    .filter(({ role }) => role === 'user')
    .map(textOf)
    .filter((text) => text !== '');
  const last = turns.pop() ?? '';
  const asked = [last];
  let words = countWords(last);
  for (let back = 0; back < earlierTurns && words < wordsOfItsOwn; back++) {
    const earlier = turns.pop();
    if (earlier === undefined) break;
    asked.unshift(earlier);
    words += countWords(earlier);
  }
  return asked.join('\n');
};

const textOf = ({ content }: ChatMessage): string =>
  content
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('\n')
    .slice(0, longestTurn)
    .replace(command, '')
    .trim();

/** Scripts without blanks between words are counted by their characters. */
const countWords = (text: string): number =>
  text.match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]|[\p{L}\p{N}]+/gu)?.length ?? 0;
