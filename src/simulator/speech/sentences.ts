/** Splits a text into pieces to be spoken, in letters that the synthesizer knows. */

const longest = 300;
const syllables = ['la', 'no', 'mi', 'ra', 'so', 'ti', 'ka', 'de', 'fu', 'be', 'go', 'vi'];

/** At least one piece. */
export const speechSentences = (text: string): readonly string[] => {
  const sentences = text.match(/[^.!?。！？\n]+[.!?。！？\n]*|[.!?。！？\n]+/gu) ?? [text];
  return sentences.flatMap((sentence) => shortPieces(sentence.trim())).filter((piece) => piece !== '');
};

const shortPieces = (sentence: string): readonly string[] => {
  const pieces: string[] = [];
  let rest = sentence;
  while (rest.length > longest) {
    const cut = Math.max(rest.lastIndexOf(' ', longest), rest.lastIndexOf(',', longest) + 1);
    const end = cut > longest / 4 ? cut : longest;
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...pieces, rest];
};

/** It reads English; letters of other scripts become syllables, so that every text can be spoken. */
export const sayable = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[‘’]/gu, "'")
    .replace(/[“”«»]/gu, '"')
    .replace(/[^\x20-\x7e]/gu, (letter) =>
      /\p{L}|\p{N}/u.test(letter) ? `${syllables[(letter.codePointAt(0) ?? 0) % syllables.length]} ` : ' ',
    );
