/** Reads a transcription request, JSON or a form; loads its recording once it is admitted: 400 names the field, 413. */
import { concatMap, map, type Observable, of, reduce, switchMap } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import { maxRecordingBytes, maxRecordingSeconds, TranscriptionFields } from '../../schemas/transcription.ts';
import { joinBytes } from '../../src/helpers/joined-bytes.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import type { TranscriptionCall } from '../../src/ports/engines/transcription.ts';
import type { Exchange, KeyedRequest } from '../../src/ports/exchange.ts';
import type { Base64 } from '../../src/ports/media.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { invalid } from '../core/checks.ts';
import { compose } from '../core/compose.ts';
import { parseJson, receiveJson } from '../core/parse-json.ts';
import { type MultipartPart, parseMultipart } from '../core/parse-multipart.ts';
import type { ResolvedRequest } from '../core/resolve-model.ts';
import type { Step } from '../core/stage.ts';
import { validate } from '../core/validate.ts';
import { checkAudio, decodeAudio, probeAudio } from './load-audio.ts';
import { readLanguageCode } from './read-language.ts';

interface TranscriptionBody extends Omit<TranscriptionFields, 'input_audio'>, SentRecording {}

interface SentRecording {
  /** The file of a form; base64 of a JSON body. */
  readonly recording: { readonly bytes: Buffer } | { readonly base64: Base64 };
  /** Where the recording stood. */
  readonly field: 'input_audio.data' | 'file';
}

/** A task whose recording is still to be loaded. */
interface TranscriptionDraft extends Omit<TranscriptionTask, 'call' | 'seconds'>, SentRecording {
  readonly call: Omit<TranscriptionCall, 'audio'>;
}

export interface TranscriptionTask {
  readonly model: Model;
  readonly call: TranscriptionCall;
  readonly format: 'json' | 'text';
  /** Of audio, rounded up: what is billed. */
  readonly seconds: number;
}

const transcriptionFields = validate(TranscriptionFields);

export const readTranscriptionBody = ({
  offload,
}: Pick<Ports, 'offload'>): Step<Exchange, TranscriptionBody, KeyedRequest> => {
  const readJson = compose(receiveJson(), parseJson(offload), transcriptionFields, sentRecording);
  return (exchange, request) => {
    const type = exchange.header('content-type');
    if (/^\s*multipart\/form-data\b/i.test(type)) return readForm(exchange);
    if (/^\s*[\w.+-]+\/(?:[\w.+-]+\+)?json\b/i.test(type)) return readJson(exchange, request);
    throw invalid(
      `content-type must be application/json or multipart/form-data, ${type === '' ? 'but none was sent' : `not ${JSON.stringify(type.slice(0, 100))}`}`,
    );
  };
};

const sentRecording = ({ input_audio, ...fields }: TranscriptionFields): TranscriptionBody => {
  if (input_audio === undefined) throw invalid('input_audio is required');
  const field = 'input_audio.data';
  return { ...fields, recording: { base64: checkAudio(input_audio.data, field) }, field };
};

export const readTranscriptionRequest = ({
  model,
  body,
}: ResolvedRequest<TranscriptionBody>): TranscriptionDraft => {
  if (body.timestamp_granularities !== undefined)
    throw invalid('timestamp_granularities is not supported: transcripts have no timestamps');
  return {
    model,
    recording: body.recording,
    field: body.field,
    call: {
      language: body.language === undefined ? undefined : readLanguageCode(body.language, 'language'),
      prompt: body.prompt,
      temperature: body.temperature,
      stream: body.stream ?? false,
    },
    format: body.response_format ?? 'json',
  };
};

/** Decodes and probes the recording: what is billed is known from then on. */
export const loadRecording =
  ({
    media,
    codec,
  }: Pick<Ports, 'media' | 'codec'>): Step<
    TranscriptionDraft,
    TranscriptionTask,
    Pick<KeyedRequest, 'caller'>
  > =>
  ({ model, call, format, recording, field }, { caller: { subscription } }) => {
    const bytes =
      'bytes' in recording
        ? of(recording.bytes)
        : decodeAudio(media.for(subscription), recording.base64, { field, maxBytes: maxRecordingBytes });
    const rule = { field, maxSeconds: maxRecordingSeconds };
    return bytes.pipe(
      switchMap((decoded) => probeAudio(codec.for(subscription), decoded, rule)),
      map((audio) => ({ model, call: { ...call, audio }, format, seconds: Math.ceil(audio.seconds) })),
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
    reduce<FormValue, Form>(
      (form, { name, value }) => {
        if (value instanceof Buffer) form.recording = value;
        else if (value !== '') form.texts[name] = value;
        return form;
      },
      { texts: {}, recording: undefined },
    ),
    map(({ texts, recording }) => {
      if (recording === undefined)
        throw invalid('file must be a file of sound, with a file name; URLs are not accepted');
      const { input_audio: _, ...fields } = transcriptionFields(texts);
      return { ...fields, recording: { bytes: recording }, field: 'file' };
    }),
  );

interface FormValue {
  readonly name: string;
  readonly value: unknown;
}

const readPart = (part: MultipartPart): Observable<FormValue> => {
  if (part.kind === 'field') {
    const name = part.name.replace(/\[\]$/, '');
    return of({ name, value: typed(name, part.value) });
  }
  if (part.name in TranscriptionFields.properties) throw invalid(`${part.name} must be text, not a file`);
  if (part.name !== 'file') {
    part.discard();
    return of({ name: part.name, value: '' });
  }
  return part.chunks(new Backpressure()).pipe(
    joinBytes,
    map((value) => ({ name: 'file', value })),
  );
};

/** A form knows text only. */
const typed = (name: string, text: string): unknown => {
  if (name === 'temperature' && /^\s*[-+]?[\d.]+(e[-+]?\d+)?\s*$/i.test(text)) return Number(text);
  if (name === 'stream' && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  // What takes an object in JSON is nothing that a form has.
  return name === 'input_audio' ? '' : text;
};
