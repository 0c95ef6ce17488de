/** Writes the toy model as a folder that the Transformers library reads: configuration, weights, tokenizer. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelRole } from '../server.ts';
import { endToken, idOf, merge, vocabulary } from './bigram.ts';
import { jinja } from './template.ts';
import { shape, tensors } from './tensors.ts';

export const writeHuggingFace = (folder: string, context: number, role: ModelRole): void => {
  mkdirSync(folder, { recursive: true });
  const end = idOf(endToken);
  const json = (name: string, value: object) => writeFileSync(join(folder, name), JSON.stringify(value));
  json('config.json', {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    hidden_size: shape.width,
    intermediate_size: shape.inner,
    num_hidden_layers: shape.layers,
    num_attention_heads: shape.heads,
    num_key_value_heads: shape.keyHeads,
    head_dim: shape.headWidth,
    hidden_act: 'silu',
    rms_norm_eps: shape.epsilon,
    max_position_embeddings: context,
    rope_theta: 10000,
    vocab_size: vocabulary.length,
    tie_word_embeddings: false,
    torch_dtype: 'float32',
    bos_token_id: null,
    eos_token_id: end,
    pad_token_id: end,
  });
  json('generation_config.json', { eos_token_id: end, pad_token_id: end });
  json('tokenizer_config.json', {
    tokenizer_class: 'PreTrainedTokenizerFast',
    eos_token: endToken,
    pad_token: endToken,
    clean_up_tokenization_spaces: false,
    model_max_length: context,
    chat_template: jinja,
  });
  json('tokenizer.json', tokenizer());
  writeFileSync(join(folder, 'model.safetensors'), safetensors(role));
};

const tokenizer = (): object => {
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [...vocabulary.entries()]
      .filter(([, { kind }]) => kind === 'added' || kind === 'control')
      .map(([id, { text, kind }]) => ({
        id,
        content: text,
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
        special: kind === 'control',
      })),
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: null,
    decoder: byteLevel,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(vocabulary.map(({ text }, id) => [text, id])),
      merges: [merge],
    },
  };
};

/** Length of the header, the header, the values. */
const safetensors = (role: ModelRole): Buffer => {
  const all = tensors(role);
  let offset = 0;
  const header = Object.fromEntries(
    all.map(({ names: [, name], dimensions, values }) => {
      const begin = offset;
      offset += values.byteLength;
      return [name, { dtype: 'F32', shape: dimensions, data_offsets: [begin, offset] }];
    }),
  );
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, ...all.map(({ values }) => Buffer.from(values.buffer))]);
};
