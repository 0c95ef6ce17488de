/** Frames vectors as one JSON object, sent in chunks where it is large. */
import type { VectorJson } from '../../src/ports/engines/embedding.ts';
import { type Head, jsonTextReply } from '../../src/ports/exchange.ts';
import { type Framing, responseKey } from '../core/frame.ts';
import type { BodyChunk, FramedReply } from '../core/paced-bytes.ts';
import { gather } from '../core/transforms.ts';
import type { CountedEmbedded } from './count.ts';
import type { EmbeddingTask } from './read-request.ts';

/** Bytes of vectors up to which the body is one text. */
const smallBody = 64 * 1024;

const head: Head = { kind: 'head', status: 200, headers: { 'content-type': 'application/json' } };

const replyOf = (
  parts: readonly CountedEmbedded[],
  { exchange, task }: Framing<EmbeddingTask>,
): FramedReply => {
  const vectors: (VectorJson | undefined)[] = task.call.inputs.map(() => undefined);
  let tokens = 0;
  let size = 0;
  for (const part of parts) {
    tokens += part.tokens;
    for (const [index, vector] of part.vectors.entries()) {
      vectors[part.first + index] = vector;
      size += vector.length;
    }
  }
  const start = `{"id":"emb-${responseKey(exchange)}","object":"list","data":[`;
  const end = `],"model":${JSON.stringify(task.model.id)},"usage":{"prompt_tokens":${tokens},"total_tokens":${tokens}}}`;
  return size <= smallBody
    ? jsonTextReply(start + vectors.map(itemText).join() + end)
    : { kind: 'paced', head, chunks: chunksOf(start, vectors, end) };
};

export const frameEmbeddings = gather(replyOf);

const itemStart = (index: number): string => `{"object":"embedding","index":${index},"embedding":`;

const itemText = (vector: VectorJson | undefined, index: number): string =>
  `${itemStart(index)}${vector?.toString('latin1')}}`;

function* chunksOf(
  start: string,
  vectors: readonly (VectorJson | undefined)[],
  end: string,
): Generator<BodyChunk> {
  yield start;
  for (const [index, vector = ''] of vectors.entries()) {
    yield `${index === 0 ? '' : ','}${itemStart(index)}`;
    yield vector;
    yield '}';
  }
  yield end;
}
