/** The tokens of an answer and a text already said in; the tokens that are left to say out. */

/** Undefined when the text is not the start of this answer. */
export function resume(
  tokens: Iterator<string, undefined>,
  begun: string,
): Iterator<string, undefined> | undefined {
  let at = 0;
  while (at < begun.length) {
    const token = tokens.next().value;
    if (token === undefined) return undefined;
    const said = Math.min(token.length, begun.length - at);
    if (!begun.startsWith(token.slice(0, said), at)) return undefined;
    at += said;
    if (said < token.length) return preceded(token.slice(said), tokens);
  }
  return tokens;
}

function* preceded(first: string, rest: Iterator<string, undefined>): Generator<string, undefined> {
  yield first;
  for (let next = rest.next().value; next !== undefined; next = rest.next().value) yield next;
}
