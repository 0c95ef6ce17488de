/** Searches texts by words. */

/** Whether every word is in one of the texts. */
export const hasWords = (texts: readonly string[], words: string): boolean => {
  const text = texts.join(' ').toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
};
