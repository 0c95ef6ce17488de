/** Reads a video request from multipart/form-data into what its JSON body would be: 400 413. */
import { concatMap, map, type Observable, of, reduce } from 'rxjs';
import { fail } from '../../src/errors.ts';
import { joinBytes } from '../../src/helpers/joined-bytes.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import type { Exchange } from '../../src/ports/exchange.ts';
import { mediaLimits } from '../../src/video/media-limits.ts';
import { invalid } from '../core/checks.ts';
import { type JsonObject, parseText } from '../core/parse-json.ts';
import { type MultipartFile, type MultipartPart, parseMultipart } from '../core/parse-multipart.ts';

/** A file of the form, all of it. */
export class FormFile {
  readonly bytes: Buffer;
  /** As the client declared it. */
  readonly mediaType: string;

  constructor(bytes: Buffer, mediaType: string) {
    this.bytes = bytes;
    this.mediaType = mediaType;
  }
}

const fileField = 'input_reference';
const rules = {
  required: ['model', 'prompt'],
  // An image may also come as a data URI.
  maxFieldBytes: Math.ceil((mediaLimits.image.maxBytes * 4) / 3) + 1024,
  maxFileBytes: mediaLimits.image.maxBytes,
};

export const isForm = (exchange: Exchange): boolean =>
  /^\s*multipart\/form-data\s*(?:;|$)/i.test(exchange.header('content-type'));

export const readVideoForm = (exchange: Exchange): Observable<JsonObject> =>
  parseMultipart(exchange, rules).pipe(
    concatMap(readPart),
    reduce((body, [name, value]) => place(body, name, value), {} as JsonObject),
  );

type Entry = readonly [string, unknown];

const readPart = (part: MultipartPart): Observable<Entry> =>
  part.kind === 'file'
    ? readFile(part).pipe(map((file): Entry => [part.name, file]))
    : of<Entry>([part.name, readText(part.name, part.value)]);

/** Nothing more of the form comes before it has been read; its size is bounded by the rules. */
const readFile = (part: MultipartFile): Observable<FormFile> => {
  if (part.name !== fileField)
    throw fail('unsupported_parameter', `${part.name.slice(0, 100)} does not take a file`);
  return part.chunks(new Backpressure()).pipe(
    joinBytes,
    map((bytes) => new FormFile(bytes, part.mediaType)),
  );
};

const jsonFields = new Set(['frame_images', 'input_references', 'provider', 'trace']);

/** Converts the text of a field to its type; what cannot be converted fails validation later. */
const readText = (name: string, text: string): unknown => {
  if (name === 'generate_audio') return text === 'true' || (text === 'false' ? false : text);
  if (/\bstart_time_seconds\]?$/.test(name)) return /^\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) : text;
  if (!jsonFields.has(name)) return text;
  try {
    return parseText(text);
  } catch (cause) {
    throw invalid(`${name} must be JSON in a form`, { cause });
  }
};

const deepest = 4;

/** `input_reference[image_url]` is how clients write a field of an object. */
const place = (body: JsonObject, name: string, value: unknown): JsonObject => {
  const [head = '', ...inner] = name.replaceAll(']', '').split('[');
  const keys = [head, ...inner];
  const isName = inner.length === 0 || /^[^[\]]+(\[[^[\]]+\])+$/.test(name);
  if (!isName || keys.length > deepest || keys.includes('__proto__'))
    throw invalid(`${name.slice(0, 100)} is not the name of a field`);
  let object = body;
  for (const key of keys.slice(0, -1)) {
    object[key] ??= {};
    const next = object[key];
    if (typeof next !== 'object' || next === null || next instanceof FormFile)
      throw invalid(`${key.slice(0, 100)} is given more than once`);
    object = next as JsonObject;
  }
  const last = keys.at(-1) ?? '';
  if (Object.hasOwn(object, last)) throw invalid(`${name.slice(0, 100)} is given more than once`);
  object[last] = value;
  return body;
};
