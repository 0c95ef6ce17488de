/** Types of packages that have none. */
declare module 'nspell' {
  interface Checker {
    correct(word: string): boolean;
    suggest(word: string): string[];
  }
  export default function nspell(dictionary: { aff: Buffer; dic: Buffer }): Checker;
}
declare module 'dictionary-en-gb' {
  const dictionary: { readonly aff: Uint8Array; readonly dic: Uint8Array };
  export default dictionary;
}
