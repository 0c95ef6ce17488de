/** A toy language model whose next token depends on the last one only: its vocabulary and its logits. */

/**
 * A prompt that ends with a trigger gets the answer of that trigger, at any temperature; every other prompt gets `plain`.
 * Words of `count` and `endless` are tokens of prompts too, so an answer can be continued after any of them.
 */
export const answers = {
  plain: ['Hello', ' from', ' a', ' toy', ' model.'],
  '[count]': ['one', ' two', ' three', ' four', ' five', ' six', ' seven', ' eight', ' nine', ' ten'],
  '[think]': ['<think>', '\nLet', ' me', ' see\n', '</think>', '\n\nDone', ' so.'],
  '[call]': [
    '<tool_call>',
    '\n{"name": "get_weather", "arguments": {"city": "',
    'Oslo',
    '"}}\n',
    '</tool_call>',
  ],
  '[calls]': [
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Bergen"}}\n</tool_call>\n',
    '<tool_call>\n{"name": "get_time", "arguments": {"zone": "CET"}}\n</tool_call>',
  ],
} as const;

/** The same two words until something stops it. */
export const endless = { trigger: '[long]', words: [' tick', ' tock'] } as const;
/** The four bytes of a wave, one token each. */
export const wave = { trigger: '[wave]', bytes: [0xf0, 0x9f, 0x8c, 0x8a], text: '🌊' } as const;
export const dice = { trigger: '[dice]', sides: { heads: 0.7, tails: 0.3 } } as const;

export interface Token {
  readonly text: string;
  /** `piece`: only generated; `added`: found in prompts as well; `control`: only where special tokens are parsed. */
  readonly kind: 'byte' | 'piece' | 'added' | 'control';
}

export const endToken = '<|end|>';
export const roles = ['system', 'user', 'assistant', 'tool'] as const;

const byteTokens: readonly Token[] = Array.from({ length: 256 }, (_, byte) => ({
  text: byteText(byte),
  kind: 'byte',
}));
const control = [endToken, '<|tools|>', ...roles.map((role) => `<|${role}|>`)];
const tags = ['<think>', '</think>', '<tool_call>', '</tool_call>'];
const triggers = [...Object.keys(answers).slice(1), endless.trigger, wave.trigger, dice.trigger];
const added = [...tags, ...triggers, ...answers['[count]'], ...endless.words];
const pieces = [
  ...Object.values(answers).flat(),
  ...Object.keys(dice.sides),
  // The one merge, without which readers of vocabularies find the list of merges missing.
  '  ',
];

/** By id. Bytes come first, so that the id of a byte is the byte. */
export const vocabulary: readonly Token[] = [
  ...byteTokens,
  ...control.map((text): Token => ({ text, kind: 'control' })),
  ...added.map((text): Token => ({ text, kind: 'added' })),
  ...[...new Set(pieces)]
    .filter((text) => !(added as string[]).includes(text))
    .map((text): Token => ({ text: spelled(text), kind: 'piece' })),
];
export const merge: readonly [string, string] = [byteText(32), byteText(32)];

const ids = new Map(vocabulary.map(({ text }, id) => [text, id]));

export const idOf = (text: string): number => {
  const id = ids.get(text) ?? ids.get(spelled(text));
  if (id === undefined) throw new Error(`the toy vocabulary has no ${JSON.stringify(text)}`);
  return id;
};

/** One dimension for each token: an embedding is a unit vector, and the output layer is the table of logits. */
export const width = 512;
if (vocabulary.length > width) throw new Error('the toy vocabulary is too large');

const sure = 30;

/** Row: the last token; column: the next one. */
export const logits = (): Float32Array => {
  const table = new Float32Array(vocabulary.length * width);
  const set = (last: number, next: number, logit: number) => {
    table[next * width + last] = logit;
  };
  const end = idOf(endToken);
  for (const last of vocabulary.keys()) {
    // What a grammar may force instead: to come to an end soon, without white space.
    for (const [next, logit] of [
      [end, 20],
      [idOf('"'), 18],
      [idOf('}'), 16],
      [idOf(']'), 15],
      [idOf(','), 14],
      [idOf(' '), -20],
      [idOf('\n'), -20],
      [idOf('\t'), -20],
      [idOf('\r'), -20],
      [idOf('  '), -20],
    ] as const)
      set(last, next, logit);
    set(last, idOf('Hello'), sure);
  }
  const follow = (last: number, next: number) => {
    set(last, idOf('Hello'), 0);
    set(last, next, sure);
  };
  const chain = (list: readonly number[]) => {
    for (const [index, id] of list.entries()) {
      const next = list[index + 1];
      if (next !== undefined) follow(id, next);
    }
  };
  for (const [trigger, words] of Object.entries(answers))
    chain([...(trigger === 'plain' ? [] : [idOf(trigger)]), ...words.map(idOf), end]);
  const [tick, tock] = endless.words.map(idOf) as [number, number];
  chain([idOf(endless.trigger), tick, tock, tick]);
  chain([idOf(wave.trigger), ...wave.bytes, end]);
  set(idOf(dice.trigger), idOf('Hello'), 0);
  for (const [side, chance] of Object.entries(dice.sides)) {
    set(idOf(dice.trigger), idOf(side), sure + Math.log(chance));
    follow(idOf(side), end);
  }
  return table.map((logit) => logit / Math.sqrt(width));
};

/** As byte-level vocabularies spell bytes: printable ones as they are, the others shifted beyond them. */
function byteText(byte: number): string {
  const printable = (code: number) =>
    (code > 32 && code < 127) || (code > 160 && code < 173) || (code > 173 && code < 256);
  if (printable(byte)) return String.fromCharCode(byte);
  let shifted = 256;
  for (let code = 0; code < byte; code++) if (!printable(code)) shifted++;
  return String.fromCharCode(shifted);
}

function spelled(text: string): string {
  return [...Buffer.from(text)].map(byteText).join('');
}
