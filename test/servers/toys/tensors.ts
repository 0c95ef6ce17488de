/** The weights of the toy model: a Llama of one layer that adds nothing to the embedding of the last token. */
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

const zeros = (gguf: string, safetensors: string, rows: number, columns: number): Tensor =>
  tensor(
    [`blk.0.${gguf}.weight`, `model.layers.0.${safetensors}.weight`],
    [rows, columns],
    new Float32Array(rows * columns),
  );

const ones = (gguf: string, safetensors: string): Tensor =>
  tensor([`${gguf}.weight`, `model.${safetensors}.weight`], [width], new Float32Array(width).fill(1));

const unitVectors = (): Float32Array => {
  const values = new Float32Array(vocabulary.length * width);
  for (const id of vocabulary.keys()) values[id * width + id] = Math.sqrt(width);
  return values;
};

export const tensors = (): readonly Tensor[] => [
  tensor(['token_embd.weight', 'model.embed_tokens.weight'], [vocabulary.length, width], unitVectors()),
  ones('blk.0.attn_norm', 'layers.0.input_layernorm'),
  zeros('attn_q', 'self_attn.q_proj', width, width),
  zeros('attn_k', 'self_attn.k_proj', keyWidth, width),
  zeros('attn_v', 'self_attn.v_proj', keyWidth, width),
  zeros('attn_output', 'self_attn.o_proj', width, width),
  ones('blk.0.ffn_norm', 'layers.0.post_attention_layernorm'),
  zeros('ffn_gate', 'mlp.gate_proj', shape.inner, width),
  zeros('ffn_up', 'mlp.up_proj', shape.inner, width),
  zeros('ffn_down', 'mlp.down_proj', width, shape.inner),
  ones('output_norm', 'norm'),
  tensor(['output.weight', 'lm_head.weight'], [vocabulary.length, width], logits()),
];
