/** A request in; its fields and the bytes of its recording out, whether they came as JSON or as a form. 400 413. */
import { concatMap, map, type Observable, of, reduce, switchMap, throwError } from 'rxjs';
import { maxRecordingBytes, TranscriptionFields } from '../../schemas/transcription.ts';
import { fail } from '../../src/errors.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import type { Exchange } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { parseJson } from '../core/parse-json.ts';
import { type MultipartPart, parseMultipart } from '../core/parse-multipart.ts';
import { validate } from '../core/validate.ts';
import { readBase64Audio } from './read-base64-audio.ts';

export interface TranscriptionBody extends Omit<TranscriptionFields, 'input_audio'> {
  readonly recording: Buffer;
  /** Where the recording stood. */
  readonly field: 'input_audio.data' | 'file';
}

const transcriptionFields = validate(TranscriptionFields);

export const readTranscriptionBody = (
  { media, offload }: Pick<Ports, 'media' | 'offload'>,
  exchange: Exchange,
): Observable<TranscriptionBody> => {
  const type = exchange.header('content-type');
  if (/^\s*multipart\/form-data\b/i.test(type)) return readForm(exchange);
  if (!/^\s*[\w.+-]+\/(?:[\w.+-]+\+)?json\b/i.test(type))
    return throwError(() =>
      fail(
        'invalid_request',
        `content-type must be application/json or multipart/form-data, ${type === '' ? 'but none was sent' : `not ${JSON.stringify(type.slice(0, 100))}`}`,
      ),
    );
  return parseJson(offload, exchange).pipe(
    map(transcriptionFields),
    switchMap(({ input_audio, ...fields }) => {
      if (input_audio === undefined) throw fail('invalid_request', 'input_audio is required');
      const field = 'input_audio.data';
      return readBase64Audio(media, input_audio.data, { field, maxBytes: maxRecordingBytes }).pipe(
        map((recording): TranscriptionBody => ({ ...fields, recording, field })),
      );
    }),
  );
};

// ── the form ───────────────────────────────────────────────────────────────────────────────────────

interface Form {
  readonly texts: Record<string, unknown>;
  recording: Buffer | undefined;
}

const readForm = (exchange: Exchange): Observable<TranscriptionBody> =>
  parseMultipart(exchange, {
    required: ['model', 'file'],
    maxFileBytes: maxRecordingBytes,
    maxFieldBytes: 256 * 1024,
  }).pipe(
    concatMap(readPart),
    reduce<Piece, Form>(
      (form, { name, value }) => {
        if (value instanceof Buffer) form.recording = value;
        else if (value !== '') form.texts[name] = value;
        return form;
      },
      { texts: {}, recording: undefined },
    ),
    map(({ texts, recording }) => {
      if (recording === undefined)
        throw fail(
          'invalid_request',
          'file must be a file of sound, with a file name; URLs are not accepted',
        );
      const { input_audio: _, ...fields } = transcriptionFields(texts);
      return { ...fields, recording, field: 'file' };
    }),
  );

interface Piece {
  readonly name: string;
  readonly value: unknown;
}

const readPart = (part: MultipartPart): Observable<Piece> => {
  if (part.kind === 'field') {
    const name = part.name.replace(/\[\]$/, '');
    return of({ name, value: typed(name, part.value) });
  }
  if (part.name in TranscriptionFields.properties)
    throw fail('invalid_request', `${part.name} must be text, not a file`);
  if (part.name !== 'file') {
    part.discard();
    return of({ name: part.name, value: '' });
  }
  return part.chunks(new Backpressure()).pipe(
    reduce<Buffer, Buffer[]>((pieces, piece) => {
      pieces.push(piece);
      return pieces;
    }, []),
    map((pieces) => ({ name: 'file', value: Buffer.concat(pieces) })),
  );
};

/** A form knows text only. */
const typed = (name: string, text: string): unknown => {
  if (name === 'temperature' && /^\s*[-+]?[\d.]+(e[-+]?\d+)?\s*$/i.test(text)) return Number(text);
  if (name === 'stream' && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  // What takes an object in JSON is nothing that a form has.
  return name === 'input_audio' ? '' : text;
};
