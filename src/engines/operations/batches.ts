/** Splits the inputs of a request into batches, and further where an engine refuses their size. */

/** Inputs in their order, from the one with the number `first` on. */
export interface Batch<Input> {
  readonly first: number;
  readonly inputs: readonly Input[];
}

type Text = string | readonly number[];

/** Characters of a batch: writing these as JSON takes a millisecond or two. */
const batchLength = 512 * 1024;
/** An input that is refused as too long keeps three quarters, again and again, but never less than this. */
const shortestCut = 16;

export const splitBatches = <Input extends Text>(
  inputs: readonly Input[],
  most: number,
): readonly Batch<Input>[] => {
  const batches: Batch<Input>[] = [];
  let first = 0;
  let length = 0;
  for (const [index, input] of inputs.entries()) {
    const isFull = index - first >= most || (index > first && length + input.length > batchLength);
    if (isFull) {
      batches.push({ first, inputs: inputs.slice(first, index) });
      first = index;
      length = 0;
    }
    length += input.length;
  }
  batches.push({ first, inputs: inputs.slice(first) });
  return batches;
};

/**
 * Engines count tokens by vocabularies we do not have, and limit batches as they like. Halving finds the input at fault
 * in a few calls and leaves the others untouched.
 */
export const smallerBatches = <Input extends Text>({
  first,
  inputs,
}: Batch<Input>): readonly Batch<Input>[] | undefined => {
  const half = inputs.length >> 1;
  if (half > 0)
    return [
      { first, inputs: inputs.slice(0, half) },
      { first: first + half, inputs: inputs.slice(half) },
    ];
  const [input] = inputs;
  if (input === undefined || input.length <= shortestCut) return undefined;
  return [{ first, inputs: [shortened(input, Math.floor((input.length * 3) / 4))] }];
};

const shortened = <Input extends Text>(input: Input, length: number): Input => {
  const splitsCharacter = typeof input === 'string' && (input.charCodeAt(length) & 0xfc00) === 0xdc00;
  return input.slice(0, splitsCharacter ? length - 1 : length) as Input;
};
