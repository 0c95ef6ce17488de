/** Parses a multipart/form-data body into fields and streamed files as they arrive. */
import { isUtf8 } from 'node:buffer';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { defer, ignoreElements, merge, Observable, type Subscriber, tap } from 'rxjs';
import { type ApiError, fail } from '../../src/errors.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import type { Exchange } from '../../src/ports/exchange.ts';
import { invalid } from './checks.ts';

export interface MultipartRules {
  /** Names that must come, as fields or as files. */
  readonly required?: readonly string[];
  /** Names that may come more than once. Names that end in `[]` always may. */
  readonly repeatable?: readonly string[];
  /** Parts in all. */
  readonly maxParts?: number;
  /** Bytes of one field. */
  readonly maxFieldBytes?: number;
  /** Bytes of one file. */
  readonly maxFileBytes: number;
  /** Files are stored as they arrive: they take no memory. */
  readonly stored?: true;
}

export type MultipartPart = MultipartField | MultipartFile;

interface MultipartField {
  readonly kind: 'field';
  readonly name: string;
  readonly value: string;
}

/** Nothing after a file arrives before the file has been read to its end or discarded. */
export interface MultipartFile {
  readonly kind: 'file';
  readonly name: string;
  readonly filename: string;
  /** As the client declared it. */
  readonly mediaType: string;
  /** To be subscribed to once. Unsubscribing early discards the rest. */
  chunks(backpressure: Backpressure): Observable<Buffer>;
  discard(): void;
}

const maxParts = 100;
const maxFieldBytes = 1024 * 1024;
const maxHeaderBytes = 4096;
const maxHeaders = 20;

export const parseMultipart = (exchange: Exchange, rules: MultipartRules): Observable<MultipartPart> =>
  defer(() => {
    const form = openForm(exchange.header('content-type'), rules);
    const backpressure = new Backpressure();
    return merge(
      found(form, rules, backpressure),
      fed(form, exchange.body.chunks(backpressure, rules.stored), backpressure),
    );
  });

/** The body into the parser, as fast as it takes it. */
const fed = (form: BusboyInstance, body: Observable<Buffer>, backpressure: Backpressure): Observable<never> =>
  body.pipe(
    tap({
      next: (chunk) => {
        if (!form.write(chunk)) backpressure.pause();
      },
      complete: () => form.end(),
    }),
    ignoreElements(),
  );

/** What the parser finds. */
const found = (
  form: BusboyInstance,
  rules: MultipartRules,
  backpressure: Backpressure,
): Observable<MultipartPart> =>
  new Observable((subscriber) => {
    const reader = new FormReader(form, rules, subscriber);
    form.on('drain', () => backpressure.resume());
    return () => {
      reader.stop();
      form.removeAllListeners();
      // A parser that is ended early complains of it.
      form.on('error', () => {});
      form.destroy();
    };
  });

const openForm = (type: string, rules: MultipartRules): BusboyInstance => {
  if (!/^\s*multipart\/form-data\s*(?:;|$)/i.test(type))
    throw invalid(`content-type must be multipart/form-data, not ${JSON.stringify(type.slice(0, 100))}`);
  if (!/;\s*boundary\s*=\s*(?:"[^"]{1,70}"|[^\s";]{1,70})\s*(?:;|$)/i.test(type))
    throw invalid('content-type multipart/form-data must name a boundary of 1 to 70 characters');
  return new Busboy({
    headers: { 'content-type': type },
    // Bytes as they are: what they decode to is ours to check.
    defCharset: 'latin1',
    limits: {
      parts: rules.maxParts ?? maxParts,
      fieldSize: rules.maxFieldBytes ?? maxFieldBytes,
      fileSize: rules.maxFileBytes,
      headerPairs: maxHeaders,
      headerSize: maxHeaderBytes,
    },
  });
};

/** Checks names and sizes of what the parser finds, and hands it on. */
class FormReader {
  readonly #rules: MultipartRules;
  readonly #subscriber: Subscriber<MultipartPart>;
  readonly #names = new Set<string>();
  #file: BusboyFileStream | undefined;
  #openFiles = 0;
  #allParsed = false;
  #finished = false;
  #failed = false;

  constructor(form: BusboyInstance, rules: MultipartRules, subscriber: Subscriber<MultipartPart>) {
    this.#rules = rules;
    this.#subscriber = subscriber;
    form.on('field', (name, value, _nameCut, cut) => this.#field(name, value, cut));
    form.on('file', (name, stream, filename, _encoding, mediaType) =>
      this.#fileFound(name, stream, filename, mediaType),
    );
    form.on('partsLimit', () =>
      this.#fail(invalid(`The form has more than ${rules.maxParts ?? maxParts} parts`)),
    );
    form.on('error', (error) => this.#fail(broken(error)));
    form.on('finish', () => this.#finish());
    form.once('prefinish', () => {
      this.#allParsed = true;
      this.#expectFinish();
    });
  }

  stop(): void {
    this.#failed = true;
    this.#file?.destroy();
  }

  #field(name: string | undefined, value: string, cut: boolean): void {
    if (!this.#admit(name)) return;
    if (cut) {
      const limit = this.#rules.maxFieldBytes ?? maxFieldBytes;
      this.#fail(fail('payload_too_large', `${name} is larger than the limit of ${limit} bytes`));
      return;
    }
    const bytes = Buffer.from(value, 'latin1');
    if (isUtf8(bytes)) this.#subscriber.next({ kind: 'field', name, value: bytes.toString() });
    else this.#fail(invalid(`${name} is not valid UTF-8`));
  }

  #fileFound(
    name: string | undefined,
    stream: BusboyFileStream,
    filename: string | undefined,
    mediaType: string,
  ): void {
    if (!this.#admit(name)) {
      stream.resume();
      return;
    }
    this.#file = stream;
    this.#openFiles++;
    stream.once('end', () => {
      this.#openFiles--;
      this.#expectFinish();
    });
    stream.once('limit', () =>
      this.#fail(
        fail('payload_too_large', `${name} is larger than the limit of ${this.#rules.maxFileBytes} bytes`),
      ),
    );
    // A file that breaks off fails the whole form, which its consumer is part of.
    stream.on('error', (error) => this.#fail(broken(error)));
    this.#subscriber.next({
      kind: 'file',
      name,
      filename: filename ?? '',
      mediaType,
      chunks: (backpressure) => this.#chunks(stream, backpressure),
      discard: () => stream.resume(),
    });
  }

  #chunks(stream: BusboyFileStream, backpressure: Backpressure): Observable<Buffer> {
    return new Observable((subscriber) => {
      const listener = { pause: () => stream.pause(), resume: () => stream.resume() };
      stream.on('data', (chunk: Buffer) => subscriber.next(chunk));
      stream.on('end', () => {
        if (!this.#failed) subscriber.complete();
      });
      backpressure.attach(listener);
      return () => {
        backpressure.detach(listener);
        stream.removeAllListeners('data');
        stream.resume();
      };
    });
  }

  #admit(name: string | undefined): name is string {
    if (this.#failed) return false;
    if (name === undefined || name === '') {
      this.#fail(invalid('A part of the form has no name'));
      return false;
    }
    if (this.#names.has(name) && !name.endsWith('[]') && !this.#rules.repeatable?.includes(name)) {
      this.#fail(invalid(`${name.slice(0, 100)} is given more than once`));
      return false;
    }
    this.#names.add(name);
    return true;
  }

  /** The parser waits for ever for a part whose headers do not end, even when the form has. */
  #expectFinish(): void {
    if (!this.#allParsed || this.#openFiles > 0) return;
    setImmediate(() => this.#fail(invalid('A part of the form has headers that do not end')));
  }

  #finish(): void {
    if (this.#failed) return;
    const missing = this.#rules.required?.find((name) => !this.#names.has(name));
    if (missing === undefined) {
      this.#finished = true;
      this.#subscriber.complete();
    } else this.#fail(invalid(`${missing} is required`));
  }

  #fail(error: ApiError): void {
    if (this.#failed || this.#finished) return;
    this.#failed = true;
    this.#subscriber.error(error);
  }
}

const broken = (cause: unknown): ApiError => invalid('The form ends before its closing boundary', { cause });
