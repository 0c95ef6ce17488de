/** Receives a file for a vector store and stores it while it arrives: 400 413. */
import { isUtf8 } from 'node:buffer';
import { basename } from 'node:path';
import { defer, finalize, from, map, mergeMap, type Observable, of, reduce, switchMap } from 'rxjs';
import Type from 'typebox';
import type { Model } from '../../schemas/catalog.ts';
import type { VectorStoreRecord } from '../../schemas/vector-stores/records.ts';
import { Attributes, ChunkingStrategy } from '../../schemas/vector-stores/vector-store.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import type { KeyedRequest } from '../../src/ports/exchange.ts';
import { type Offload, offloaded, type SplitRules } from '../../src/ports/offload.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { Reservation, Upload } from '../../src/ports/vector-stores.ts';
import { blobOf, newFileId } from '../../src/vector-stores/records.ts';
import { UploadFormat } from '../../src/vector-stores/upload-format.ts';
import { invalid } from '../core/checks.ts';
import { parseText } from '../core/parse-json.ts';
import { type MultipartFile, type MultipartPart, parseMultipart } from '../core/parse-multipart.ts';
import type { Step } from '../core/stage.ts';
import { validate } from '../core/validate.ts';
import type { InStore } from './stores.ts';

/** Bytes of a file, and of the form around it. */
export const maxUpload = 100 * 1024 * 1024;
export const maxForm = maxUpload + 1024 * 1024;
/** Uploads of gateways that died meanwhile expire after this long. */
const keptMs = 7 * 24 * 3600 * 1000;

const formRules = {
  required: ['file'],
  maxParts: 32,
  maxFieldBytes: 64 * 1024,
  maxFileBytes: maxUpload,
  stored: true,
} as const;

type StoredFile = Pick<Upload, 'filename' | 'bytes' | 'mediaType' | 'format'>;
interface Form {
  readonly file?: StoredFile;
  readonly chunking_strategy?: unknown;
  readonly attributes?: unknown;
}

export interface ReceivedUpload extends InStore {
  readonly upload: Upload;
}

type UploadPorts = Pick<Ports, 'blobs' | 'catalog' | 'offload' | 'vectorStores'>;

export const receiveUpload =
  ({
    blobs,
    catalog,
    offload,
    vectorStores,
  }: UploadPorts): Step<VectorStoreRecord, ReceivedUpload, KeyedRequest> =>
  (store, { exchange, caller }) => {
    const model = catalog.find(store.model);
    const file = newFileId();
    const blob = blobOf(file);
    const receive = (reservation: Reservation): Observable<ReceivedUpload> => {
      let handedOver = false;
      const discard = () => Promise.all([blobs.remove(blob), reservation.release()]);
      return parseMultipart(exchange, formRules).pipe(
        mergeMap((part) => received({ blobs, offload: offload.for(caller.subscription) }, part, blob)),
        reduce((form: Form, part: Form) => ({ ...form, ...part }), {}),
        map((form) => {
          const upload = { file, blob, reservation, ...readForm(form, model) };
          handedOver = true;
          return { store, upload };
        }),
        finalize(() => {
          if (handedOver) return;
          discard().catch((error) => exchange.log.warn({ err: error }, 'rejected upload not removed'));
        }),
      );
    };
    const length = Math.min(exchange.body.length ?? maxUpload, maxUpload);
    return from(vectorStores.reserve(caller.subscription, length)).pipe(switchMap(receive));
  };

interface Stores {
  readonly blobs: Ports['blobs'];
  readonly offload: Pick<Offload, 'textEncoding'>;
}

const received = (ports: Stores, part: MultipartPart, blob: string): Observable<Form> => {
  if (part.kind === 'file') {
    if (part.name === 'file') return stored(ports, part, blob);
    part.discard();
    return of({});
  }
  if (part.name === 'file') throw invalid('file must be a file: send it with a filename');
  if (part.name !== 'chunking_strategy' && part.name !== 'attributes') return of({});
  return of({ [part.name]: parsed(part.value, part.name) });
};

const stored = ({ blobs, offload }: Stores, part: MultipartFile, blob: string): Observable<Form> =>
  defer(() => {
    const backpressure = new Backpressure();
    const seen = new UploadFormat(offload);
    const bytes = part.chunks(backpressure).pipe(
      map((chunk) => {
        seen.push(chunk);
        return chunk;
      }),
    );
    const options = { mediaType: 'application/octet-stream', expiresAt: Date.now() + keptMs, backpressure };
    return blobs.write(blob, bytes, options).pipe(
      mergeMap(({ size }) => {
        const filename = readFilename(part.filename);
        return offloaded((signal) => seen.verdict(filename, part.mediaType, signal)).pipe(
          map((verdict): Form => {
            if (!verdict.readable) throw invalid(`file: ${verdict.reason}`);
            return { file: { filename, bytes: size, mediaType: verdict.mediaType, format: verdict.format } };
          }),
        );
      }),
    );
  });

/** The last part of a path, without what does not print. */
const readFilename = (sent: string): string => {
  const bytes = Buffer.from(sent, 'latin1');
  const isBytes = /^[\0-\xff]*$/.test(sent) && isUtf8(bytes);
  const name = basename((isBytes ? bytes.toString() : sent).replaceAll('\\', '/'));
  const printed = name.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '').trim();
  return printed === '' ? 'file' : printed.slice(0, 255);
};

const formFields = validate(
  Type.Object({
    chunking_strategy: Type.Optional(ChunkingStrategy),
    attributes: Type.Optional(Attributes),
  }),
);

const readForm = (
  { file, ...fields }: Form,
  model: Model | undefined,
): Omit<Upload, 'file' | 'blob' | 'reservation'> => {
  const { chunking_strategy, attributes } = formFields(fields);
  if (file === undefined) throw invalid('file is required');
  return { ...file, chunking: readChunking(chunking_strategy, model), attributes: attributes ?? {} };
};

const parsed = (text: string, field: string): unknown => {
  try {
    return parseText(text);
  } catch {
    throw invalid(`${field} must be JSON`);
  }
};

const usual: SplitRules = { maxTokens: 320, overlapTokens: 40 };

/** Items are never longer than the model reads. */
const readChunking = (requested: ChunkingStrategy | undefined, model: Model | undefined): SplitRules => {
  const longest = model?.context_length ?? Number.POSITIVE_INFINITY;
  if (requested === undefined || requested.type === 'auto') {
    const maxTokens = Math.min(usual.maxTokens, longest);
    return { maxTokens, overlapTokens: Math.min(usual.overlapTokens, Math.floor(maxTokens / 4)) };
  }
  const path = 'chunking_strategy.static';
  if (requested.static === undefined) throw invalid(`${path} is required`);
  const { max_chunk_size_tokens: maxTokens, chunk_overlap_tokens: overlapTokens } = requested.static;
  if (maxTokens > longest)
    throw invalid(`${path}.max_chunk_size_tokens must be at most ${longest}, what the model reads`);
  if (overlapTokens > maxTokens / 2)
    throw invalid(`${path}.chunk_overlap_tokens must be at most half of max_chunk_size_tokens`);
  return { maxTokens, overlapTokens };
};
