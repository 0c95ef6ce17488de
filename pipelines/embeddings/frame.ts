/** Frames vectors as one JSON object, written at the client's pace where it is large. */
import type { Observer } from 'rxjs';
import type { Backpressure } from '../../src/ports/backpressure.ts';
import type { VectorJson } from '../../src/ports/embedding.ts';
import {
  type Exchange,
  type Head,
  jsonTextReply,
  type Reply,
  type WholeReply,
} from '../../src/ports/exchange.ts';
import { type BodyPiece, PacedBytes } from '../core/paced-bytes.ts';
import { Forwarder, type Transform, transform } from '../core/stage.ts';
import type { CountedEmbedded } from './count.ts';
import type { EmbeddingTask } from './read-request.ts';

/** Bytes of vectors up to which the body is one text. */
const smallBody = 64 * 1024;

const head: Head = { kind: 'head', status: 200, headers: { 'content-type': 'application/json' } };

interface LargeReply {
  readonly kind: 'large';
  readonly pieces: Iterable<BodyPiece>;
}

type FramedReply = WholeReply | LargeReply;

interface Request {
  readonly exchange: Pick<Exchange, 'id'>;
  readonly task: EmbeddingTask;
}

export const frameEmbeddings: Transform<CountedEmbedded, FramedReply, Request> = transform(
  (next, request) => new EmbeddingsFrame(next, request),
);

class EmbeddingsFrame extends Forwarder<CountedEmbedded, FramedReply> {
  readonly #request: Request;
  /** In the order of the inputs; they come in any. */
  readonly #vectors: (VectorJson | undefined)[];
  #tokens = 0;
  #size = 0;

  constructor(receiver: Observer<FramedReply>, request: Request) {
    super(receiver);
    this.#request = request;
    this.#vectors = request.task.call.inputs.map(() => undefined);
  }

  next({ first, vectors, tokens }: CountedEmbedded): void {
    this.#tokens += tokens;
    for (const [index, vector] of vectors.entries()) {
      this.#vectors[first + index] = vector;
      this.#size += vector.length;
    }
  }

  override complete(): void {
    this.receiver.next(this.#reply());
    this.receiver.complete();
  }

  #reply(): FramedReply {
    const { exchange, task } = this.#request;
    const tokens = this.#tokens;
    const start = `{"id":"emb-${exchange.id.slice(exchange.id.indexOf('_') + 1)}","object":"list","data":[`;
    const end = `],"model":${JSON.stringify(task.model.id)},"usage":{"prompt_tokens":${tokens},"total_tokens":${tokens}}}`;
    return this.#size <= smallBody
      ? jsonTextReply(start + this.#vectors.map(itemText).join() + end)
      : { kind: 'large', pieces: piecesOf(start, this.#vectors, end) };
  }
}

const itemStart = (index: number): string => `{"object":"embedding","index":${index},"embedding":`;

const itemText = (vector: VectorJson | undefined, index: number): string =>
  `${itemStart(index)}${vector?.toString('latin1')}}`;

function* piecesOf(
  start: string,
  vectors: readonly (VectorJson | undefined)[],
  end: string,
): Generator<BodyPiece> {
  yield start;
  for (const [index, vector = ''] of vectors.entries()) {
    yield `${index === 0 ? '' : ','}${itemStart(index)}`;
    yield vector;
    yield '}';
  }
  yield end;
}

export const writeReply: Transform<
  FramedReply,
  Reply,
  { readonly exchange: Pick<Exchange, 'backpressure'> }
> = transform((next, { exchange }) => new ReplyWriter(next, exchange.backpressure));

class ReplyWriter extends Forwarder<FramedReply, Reply> {
  readonly #backpressure: Backpressure;
  #paced: PacedBytes | undefined;

  constructor(receiver: Observer<Reply>, backpressure: Backpressure) {
    super(receiver);
    this.#backpressure = backpressure;
  }

  next(reply: FramedReply): void {
    if (reply.kind === 'large') {
      this.receiver.next(head);
      this.#paced = new PacedBytes(reply.pieces, this.#backpressure, this.receiver);
    } else this.receiver.next(reply);
  }

  override complete(): void {
    if (this.#paced === undefined) this.receiver.complete();
    else this.#paced.start();
  }

  onTeardown(): void {
    this.#paced?.stop();
  }
}
