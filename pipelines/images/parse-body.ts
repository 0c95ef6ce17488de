/** A request with a JSON object or a form in; its fields and the pictures that came with it out. 400 413. */
import { filter, map, mergeMap, type Observable, of, reduce, tap } from 'rxjs';
import { fail } from '../../src/errors.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import type { Exchange } from '../../src/ports/exchange.ts';
import type { Offload } from '../../src/ports/offload.ts';
import { type JsonObject, parseJson } from '../core/parse-json.ts';
import { type MultipartFile, parseMultipart } from '../core/parse-multipart.ts';
import { maxImageBytes, maxTotalBytes, tooLargeTogether } from './bounds.ts';

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
const maxFieldBytes = 4 * 1024 * 1024;

export const parseImageBody = (offload: Offload, exchange: Exchange): Observable<ImageBody> => {
  const isForm = /^\s*multipart\//i.test(exchange.header('content-type'));
  return isForm ? parseForm(exchange) : parseObject(offload, exchange);
};

const parseObject = (offload: Offload, exchange: Exchange): Observable<ImageBody> =>
  parseJson(offload, exchange, 'invalid_request', 'seed').pipe(
    map((fields) => ({ ...modelOf(fields), fields, isForm: false, files: [] })),
  );

const parseForm = (exchange: Exchange): Observable<ImageBody> => {
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
      if (isPicture(part.name)) throw fail('invalid_request', `${part.name} must be a file`);
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

/** Into one buffer, whose untouched part takes no memory: pieces put together afterwards would be there twice. */
const readFile = (part: MultipartFile, room: number): Observable<ImageFile> => {
  const { name } = part;
  if (!isPicture(name)) throw fail('invalid_request', `${name.slice(0, 100)} must not be a file`);
  const target = Buffer.allocUnsafeSlow(Math.min(room, maxImageBytes));
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

/** Needed before all else is looked at: the rules are the model's. */
const modelOf = ({ model }: JsonObject): { model?: string } => {
  if (model === undefined || model === null) return {};
  if (typeof model !== 'string') throw fail('invalid_request', 'model must be a string');
  return { model };
};
