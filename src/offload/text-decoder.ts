/** Decodes a text of a known encoding. */

export const undecided =
  'its text is in an encoding that cannot be determined; save it as UTF-8 and send it again';

/** Decodes a text piece by piece. */
export const decoderOf = (label: string): ((bytes: Buffer, final: boolean) => string) => {
  if (label === 'windows-1252') return decodeWindows;
  const decoder = new TextDecoder(label);
  return (bytes, final) => decoder.decode(bytes, { stream: !final });
};

/** From 0x80 to 0x9f, where Windows has characters in place of Latin-1's controls; not every decoder knows them. */
const windowsCharacters = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

const decodeWindows = (bytes: Buffer): string =>
  bytes.toString('latin1').replace(/[\x80-\x9f]/g, (character) => {
    return windowsCharacters.charAt(character.charCodeAt(0) - 0x80);
  });
