/** The weights of the toy models: Llamas of one layer. That of the writer adds nothing to the embedding of the last token. */
import type { ModelRole } from '../server.ts';
import { logits, vocabulary, width } from './bigram.ts';

export const shape = { width, layers: 1, heads: 8, headWidth: 64, keyHeads: 2, inner: 128, epsilon: 1e-6 };

export interface Tensor {
  /** In a GGUF file, and in a safetensors file. */
  readonly names: readonly [gguf: string, safetensors: string];
  /** Outputs first. */
  readonly dimensions: readonly number[];
  readonly values: Float32Array;
}

const keyWidth = shape.keyHeads * shape.headWidth;

const tensor = (names: Tensor['names'], dimensions: readonly number[], values: Float32Array): Tensor => ({
  names,
  dimensions,
  values,
});

/** Zero, or as `set` makes it. */
const matrix = (
  gguf: string,
  safetensors: string,
  rows: number,
  columns: number,
  set: (values: Float32Array) => void = () => {},
): Tensor => {
  const values = new Float32Array(rows * columns);
  set(values);
  return tensor([`blk.0.${gguf}.weight`, `model.layers.0.${safetensors}.weight`], [rows, columns], values);
};

const ones = (gguf: string, safetensors: string): Tensor =>
  tensor([`${gguf}.weight`, `model.${safetensors}.weight`], [width], new Float32Array(width).fill(1));

const unitVectors = (): Float32Array => {
  const values = new Float32Array(vocabulary.length * width);
  for (const id of vocabulary.keys()) values[id * width + id] = Math.sqrt(width);
  return values;
};

/**
 * Without queries and keys attention is the mean of all values. For a search model each token is one of `keyWidth` values,
 * and the mean goes to dimensions that no token has: the vector of the last token tells of all before it.
 */
const valueOfToken = (values: Float32Array): void => {
  for (const id of vocabulary.keys()) values[(id % keyWidth) * width + id] = 1;
};
const meanBesideTokens = (values: Float32Array): void => {
  // Heads of the same keys see the same values: one of each suffices.
  const headsPerKey = shape.heads / shape.keyHeads;
  for (let index = 0; index < keyWidth; index++) {
    const head = Math.floor(index / shape.headWidth) * headsPerKey;
    const column = head * shape.headWidth + (index % shape.headWidth);
    values[(width - keyWidth + index) * width + column] = 4;
  }
};

export const tensors = (role: ModelRole): readonly Tensor[] => [
  tensor(['token_embd.weight', 'model.embed_tokens.weight'], [vocabulary.length, width], unitVectors()),
  ones('blk.0.attn_norm', 'layers.0.input_layernorm'),
  matrix('attn_q', 'self_attn.q_proj', width, width),
  matrix('attn_k', 'self_attn.k_proj', keyWidth, width),
  matrix('attn_v', 'self_attn.v_proj', keyWidth, width, role === 'search' ? valueOfToken : undefined),
  matrix('attn_output', 'self_attn.o_proj', width, width, role === 'search' ? meanBesideTokens : undefined),
  ones('blk.0.ffn_norm', 'layers.0.post_attention_layernorm'),
  matrix('ffn_gate', 'mlp.gate_proj', shape.inner, width),
  matrix('ffn_up', 'mlp.up_proj', shape.inner, width),
  matrix('ffn_down', 'mlp.down_proj', width, shape.inner),
  ones('output_norm', 'norm'),
  tensor(['output.weight', 'lm_head.weight'], [vocabulary.length, width], logits()),
];
