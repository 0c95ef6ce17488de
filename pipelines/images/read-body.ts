/** Reads the fields and files of an image request, JSON or a form: 400 413. */
import { filter, map, mergeMap, type Observable, of, reduce, tap } from 'rxjs';
import type { ImageParameters } from '../../schemas/image-capabilities.ts';
import { type ApiError, fail } from '../../src/errors.ts';
import { namesOf } from '../../src/images/spec.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import type { Exchange, KeyedRequest } from '../../src/ports/exchange.ts';
import type { Offload } from '../../src/ports/offload.ts';
import type { Shared } from '../../src/ports/shared.ts';
import { invalid } from '../core/checks.ts';
import { compose } from '../core/compose.ts';
import { type JsonObject, parseJson, parseText, receiveJson } from '../core/parse-json.ts';
import { type MultipartFile, parseMultipart } from '../core/parse-multipart.ts';
import type { Step } from '../core/stage.ts';

const mebibyte = 1024 * 1024;
export const maxImageBytes = 20 * mebibyte;
export const maxTotalBytes = 64 * mebibyte;

export const tooLargeTogether = (): ApiError =>
  fail('payload_too_large', `The images are larger than the limit of ${maxTotalBytes} bytes together`);

export interface ImageBody {
  readonly model?: string;
  /** As they came: those of a form are all text. */
  readonly fields: JsonObject;
  readonly isForm: boolean;
  readonly files: readonly ImageFile[];
}

export interface ImageFile {
  /** Name of its part: `image`, `image[]`, `image[0]`, `mask`. */
  readonly name: string;
  readonly bytes: Buffer;
}

/** References may come as JSON text in a form; those that do not fit in this go as files. */
const maxFieldBytes = 4 * mebibyte;

export const readImageBody = (offload: Shared<Offload>): Step<Exchange, ImageBody, KeyedRequest> => {
  const readJson = compose(receiveJson(), parseJson(offload, 'invalid_request', 'seed'), jsonBody);
  return (exchange, request) =>
    /^\s*multipart\//i.test(exchange.header('content-type'))
      ? readForm(exchange)
      : readJson(exchange, request);
};

const jsonBody = (fields: JsonObject): ImageBody => ({
  ...modelOf(fields),
  fields,
  isForm: false,
  files: [],
});

const readForm = (exchange: Exchange): Observable<ImageBody> => {
  const fields: JsonObject = {};
  const files: ImageFile[] = [];
  let left = maxTotalBytes;
  return parseMultipart(exchange, {
    maxFileBytes: maxImageBytes,
    maxFieldBytes,
    repeatable: ['image'],
  }).pipe(
    mergeMap((part) => {
      if (part.kind === 'file') return readFile(part, Math.min(left, exchange.body.length ?? left));
      if (isPicture(part.name)) throw invalid(`${part.name} must be a file`);
      fields[part.name] = part.value;
      return of(undefined);
    }),
    filter((file) => file !== undefined),
    tap((file) => {
      left -= file.bytes.length;
      files.push(file);
    }),
    reduce(() => undefined, undefined),
    map(() => ({ ...modelOf(fields), fields, isForm: true, files })),
  );
};

/** Into one buffer, whose untouched part takes no memory: joining chunks afterwards would take twice as much. */
const readFile = (part: MultipartFile, limit: number): Observable<ImageFile> => {
  const { name } = part;
  if (!isPicture(name)) throw invalid(`${name.slice(0, 100)} must not be a file`);
  const target = Buffer.allocUnsafeSlow(Math.min(limit, maxImageBytes));
  return part.chunks(new Backpressure()).pipe(
    reduce((length, chunk) => {
      // A file over its own limit has failed before: this one is over what the others have left.
      if (length + chunk.length > target.length) throw tooLargeTogether();
      chunk.copy(target, length);
      return length + chunk.length;
    }, 0),
    map((length) => ({ name, bytes: target.subarray(0, length) })),
  );
};

const isPicture = (name: string): boolean => name === 'mask' || /^image(?:\[\d{0,3}\])?$/.test(name);

/** Needed before anything else is checked: the rules are the model's. */
const modelOf = ({ model }: JsonObject): { model?: string } => {
  if (model === undefined || model === null) return {};
  if (typeof model !== 'string') throw invalid('model must be a string');
  return { model };
};

// ── the values of a form ───────────────────────────────────────────────────────────────────────────

const numbers = ['n', 'width', 'height', 'output_compression', 'partial_images'];
const structures = ['provider', 'input_references', 'images', 'trace'];

/** Converts texts to the values of a JSON body. What cannot be converted is refused later, by its field's own rule. */
export const readImageForm = (fields: JsonObject, parameters: ImageParameters): JsonObject => {
  const values: JsonObject = { ...fields };
  const change = (names: readonly string[], read: (text: string, name: string) => unknown): void => {
    for (const name of names) if (typeof values[name] === 'string') values[name] = read(values[name], name);
  };
  change([...numbers, ...namesOf('steps', parameters), ...namesOf('guidance_scale', parameters)], readNumber);
  change(['seed'], readSeed);
  change(['stream'], readBoolean);
  change(structures, readStructure);
  return values;
};

const readNumber = (text: string): unknown => (/^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text);

const readSeed = (text: string): unknown => (/^-?\d{1,30}$/.test(text) ? BigInt(text) : text);

const readBoolean = (text: string): unknown => (text === 'true' ? true : text === 'false' ? false : text);

const readStructure = (text: string, name: string): unknown => {
  try {
    return parseText(text);
  } catch (cause) {
    throw invalid(`${name} must be JSON`, { cause });
  }
};
