/** Writes the toy model as a GGUF file, version 3. */
import type { ModelRole } from '../server.ts';
import { endToken, idOf, merge, type Token, vocabulary } from './bigram.ts';
import { jinja } from './template.ts';
import { shape, tensors } from './tensors.ts';

const types = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 } as const;
const alignment = 32;

type Value =
  | { readonly uint32: number }
  | { readonly float32: number }
  | { readonly bool: boolean }
  | { readonly string: string }
  | { readonly strings: readonly string[] }
  | { readonly int32s: readonly number[] };

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const uint64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const float32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
};
const string = (text: string): Buffer => Buffer.concat([uint64(Buffer.byteLength(text)), Buffer.from(text)]);
const array = (type: number, items: readonly Buffer[]): Buffer =>
  Buffer.concat([uint32(types.array), uint32(type), uint64(items.length), ...items]);

const encoded = (value: Value): Buffer => {
  if ('uint32' in value) return Buffer.concat([uint32(types.uint32), uint32(value.uint32)]);
  if ('float32' in value) return Buffer.concat([uint32(types.float32), float32(value.float32)]);
  if ('bool' in value) return Buffer.concat([uint32(types.bool), Buffer.from([value.bool ? 1 : 0])]);
  if ('string' in value) return Buffer.concat([uint32(types.string), string(value.string)]);
  if ('strings' in value) return array(types.string, value.strings.map(string));
  return array(types.int32, value.int32s.map(uint32));
};

const tokenTypes: Readonly<Record<Token['kind'], number>> = { byte: 1, piece: 1, control: 3, added: 4 };

const metadata = (context: number, role: ModelRole): Readonly<Record<string, Value>> => ({
  'general.architecture': { string: 'llama' },
  'general.name': { string: 'toy' },
  'general.file_type': { uint32: 0 },
  'llama.context_length': { uint32: context },
  'llama.embedding_length': { uint32: shape.width },
  'llama.block_count': { uint32: shape.layers },
  'llama.feed_forward_length': { uint32: shape.inner },
  'llama.attention.head_count': { uint32: shape.heads },
  'llama.attention.head_count_kv': { uint32: shape.keyHeads },
  'llama.attention.layer_norm_rms_epsilon': { float32: shape.epsilon },
  'llama.rope.dimension_count': { uint32: shape.headWidth },
  'llama.vocab_size': { uint32: vocabulary.length },
  'tokenizer.ggml.model': { string: 'gpt2' },
  'tokenizer.ggml.pre': { string: 'gpt-2' },
  'tokenizer.ggml.tokens': { strings: vocabulary.map(({ text }) => text) },
  'tokenizer.ggml.token_type': { int32s: vocabulary.map(({ kind }) => tokenTypes[kind]) },
  'tokenizer.ggml.merges': { strings: [merge.join(' ')] },
  'tokenizer.ggml.bos_token_id': { uint32: idOf(endToken) },
  'tokenizer.ggml.eos_token_id': { uint32: idOf(endToken) },
  'tokenizer.ggml.add_bos_token': { bool: false },
  'tokenizer.chat_template': { string: jinja },
  // 1 is the mean. Ollama takes a model with this key for one of embeddings only.
  ...(role === 'search' && { 'llama.pooling_type': { uint32: 1 } }),
});

const padding = (length: number): Buffer => Buffer.alloc((alignment - (length % alignment)) % alignment);

export const ggufFile = (context: number, role: ModelRole): Buffer => {
  const all = tensors(role);
  const values = Object.entries(metadata(context, role));
  let offset = 0;
  const descriptions = all.map(({ names: [name], dimensions, values }) => {
    const description = Buffer.concat([
      string(name),
      uint32(dimensions.length),
      // Innermost first.
      ...[...dimensions].reverse().map(uint64),
      uint32(0),
      uint64(offset),
    ]);
    offset += values.byteLength + padding(values.byteLength).length;
    return description;
  });
  const head = Buffer.concat([
    Buffer.from('GGUF'),
    uint32(3),
    uint64(all.length),
    uint64(values.length),
    ...values.flatMap(([key, value]) => [string(key), encoded(value)]),
    ...descriptions,
  ]);
  return Buffer.concat([
    head,
    padding(head.length),
    ...all.flatMap(({ values }) => [Buffer.from(values.buffer), padding(values.byteLength)]),
  ]);
};
