/** Reads the items of a stored upload deterministically, with one window of its text in memory at a time. */
import { lastValueFrom, reduce } from 'rxjs';
import type { IngestionRecord, VectorStoreFileRecord } from '../../schemas/vector-stores/records.ts';
import { ApiError, fail } from '../errors.ts';
import { decoderOf } from '../offload/text-decoder.ts';
import { Backpressure } from '../ports/backpressure.ts';
import type { Blobs } from '../ports/blobs.ts';
import type { Offload, SplitText, TextWindow } from '../ports/offload.ts';
import type { Shared } from '../ports/shared.ts';
import { tokenCounter } from '../tokens/count.ts';
import { splitText } from '../tokens/split.ts';

/** Bytes of text that are read at once. */
const windowBytes = 1024 * 1024;
/** Text of a document that is not read in windows. */
const maxCharacters = 16 * 1024 * 1024;
/** Splitting this much blocks the event loop for about a millisecond; more goes to a thread. */
const splitInLine = 4096;

/** The file itself is at fault: trying again would change nothing. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
}

type ItemOffload = Pick<Offload, 'documentText' | 'splitText'>;

export interface ItemSource {
  readonly blobs: Pick<Blobs, 'read' | 'stat'>;
  readonly offload: Shared<ItemOffload>;
}

export async function* readItems(
  source: ItemSource,
  ingestion: IngestionRecord,
  file: VectorStoreFileRecord,
  tokenizer: string,
  signal: AbortSignal,
): AsyncGenerator<string, undefined> {
  const offload = source.offload.for(ingestion.subscription);
  let rest = '';
  let covered = 0;
  for await (const { text, final } of windowsOf(source.blobs, offload, ingestion, file, signal)) {
    const window = { text: rest + text, covered, final };
    const split = await splitWindow(offload, window, file, tokenizer, signal);
    yield* split.items;
    rest = split.rest;
    covered = split.covered;
  }
}

const splitWindow = async (
  offload: ItemOffload,
  window: TextWindow,
  { chunking }: VectorStoreFileRecord,
  tokenizer: string,
  signal: AbortSignal,
): Promise<SplitText> =>
  window.text.length <= splitInLine
    ? splitText(window, chunking, tokenCounter(tokenizer))
    : offload.splitText(window, chunking, tokenizer, signal);

interface TextPiece {
  readonly text: string;
  readonly final: boolean;
}

async function* windowsOf(
  blobs: ItemSource['blobs'],
  offload: ItemOffload,
  { blob, format }: IngestionRecord,
  { filename, bytes }: VectorStoreFileRecord,
  signal: AbortSignal,
): AsyncGenerator<TextPiece, undefined> {
  if (format.kind === 'document') {
    const whole = await readBytes(blobs, blob, 0, bytes);
    const text = await documentText(offload, whole, filename, signal);
    for (let start = 0; start < text.length; start += windowBytes)
      yield { text: text.slice(start, start + windowBytes), final: start + windowBytes >= text.length };
    return;
  }
  const decode = decoderOf(format.encoding);
  for (let start = 0; start < bytes; start += windowBytes) {
    const final = start + windowBytes >= bytes;
    const piece = await readBytes(blobs, blob, start, Math.min(start + windowBytes, bytes));
    signal.throwIfAborted();
    yield { text: decode(piece, final), final };
  }
}

const documentText = async (
  offload: ItemOffload,
  bytes: Uint8Array,
  filename: string,
  signal: AbortSignal,
): Promise<string> => {
  try {
    return await offload.documentText(bytes, filename, { maxCharacters, signal });
  } catch (reason) {
    if (reason instanceof ApiError && reason.kind === 'invalid_request')
      throw new UnreadableFile(reason.message, { cause: reason });
    throw reason;
  }
};

/** A range at a time: what is not asked for is not read. */
const readBytes = async (
  blobs: ItemSource['blobs'],
  name: string,
  start: number,
  end: number,
): Promise<Buffer<ArrayBuffer>> => {
  const bytes = Buffer.alloc(end - start);
  const length = await lastValueFrom(
    blobs
      .read(name, new Backpressure(), { start, end })
      .pipe(reduce((at, piece) => at + piece.copy(bytes, at), 0)),
  );
  if (length < bytes.length) throw fail('internal', 'The upload is shorter than it was');
  return bytes;
};
