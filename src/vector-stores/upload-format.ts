/** Detects how an upload is to be read, from its bytes as they stream by. */
import { isUtf8 } from 'node:buffer';
import type { FileFormat } from '../../schemas/vector-store-records.ts';
import { headLength, sniffMediaType } from '../media/media-type.ts';
import { looksLikeHtml } from '../offload/html-text.ts';
import { hasOddBytes } from '../offload/text-encoding.ts';

export type Verdict =
  | { readonly readable: true; readonly format: FileFormat; readonly mediaType: string }
  | { readonly readable: false; readonly reason: string };

const docx = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const byExtension: Readonly<Record<string, string>> = {
  md: 'text/markdown',
  markdown: 'text/markdown',
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  json: 'application/json',
  jsonl: 'application/jsonl',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
};

export class UploadFormat {
  #head: Buffer = Buffer.alloc(0);
  #size = 0;
  #isUtf8 = true;
  /** The beginning of a character whose rest comes with the next bytes. */
  #cut: Buffer = Buffer.alloc(0);
  #hasZero = false;
  #hasOdd = false;
  #isBlank = true;

  push(chunk: Buffer): void {
    if (this.#head.length < headLength)
      this.#head = Buffer.concat([this.#head, chunk.subarray(0, headLength - this.#head.length)]);
    this.#size += chunk.length;
    this.#hasZero ||= chunk.includes(0);
    this.#hasOdd ||= hasOddBytes(chunk);
    this.#isBlank &&= chunk.every((byte) => byte <= 32);
    if (this.#isUtf8) this.#checkUtf8(chunk);
  }

  verdict(filename: string, declared: string): Verdict {
    if (this.#size === 0) return unreadable('the file is empty');
    const sniffed = sniffMediaType(this.#head);
    const encoding = this.#encoding();
    if (sniffed === 'application/pdf' && (encoding === undefined || this.#starts('%PDF-')))
      return document(sniffed);
    if (sniffed === 'application/zip') return document(docx);
    if (this.#starts('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'))
      return unreadable(
        'the file is encrypted or in an old Office format; send it as PDF or as an open DOCX',
      );
    if (this.#starts('{\\rtf'))
      return unreadable('RTF documents are not supported; send PDF, DOCX or plain text');
    if (encoding === undefined)
      return unreadable(
        sniffed === undefined
          ? 'the file is not a PDF, a DOCX or text'
          : `the file is ${sniffed}, which holds no text`,
      );
    if (this.#isBlank) return unreadable('the file holds no text');
    if (looksLikeHtml(this.#head.toString('latin1'), filename)) return document('text/html');
    return { readable: true, format: { kind: 'text', encoding }, mediaType: textType(filename, declared) };
  }

  #encoding(): Extract<FileFormat, { kind: 'text' }>['encoding'] | undefined {
    if (this.#starts('\xff\xfe')) return 'utf-16le';
    if (this.#starts('\xfe\xff')) return 'utf-16be';
    if (this.#isUtf8 && this.#cut.length === 0) return this.#hasZero ? undefined : 'utf-8';
    return this.#hasOdd ? undefined : 'windows-1252';
  }

  #checkUtf8(chunk: Buffer): void {
    const bytes = this.#cut.length === 0 ? chunk : Buffer.concat([this.#cut, chunk]);
    const end = wholeCharacters(bytes);
    this.#isUtf8 = isUtf8(bytes.subarray(0, end));
    this.#cut = Buffer.from(bytes.subarray(end));
  }

  #starts(signature: string): boolean {
    return this.#head.toString('latin1', 0, signature.length) === signature;
  }
}

const unreadable = (reason: string): Verdict => ({ readable: false, reason });
const document = (mediaType: string): Verdict => ({
  readable: true,
  format: { kind: 'document' },
  mediaType,
});

/** The bytes do not say what kind of text it is: the sender does, or the name. */
const textType = (filename: string, declared: string): string => {
  const type = declared.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (/^text\/[\w.+-]{1,60}$/.test(type) && type !== 'text/plain') return type;
  const extension = /\.(\w{1,10})$/.exec(filename)?.[1]?.toLowerCase() ?? '';
  return byExtension[extension] ?? (type === 'application/json' ? type : 'text/plain');
};

/** Where the last character that is all there ends. */
export const wholeCharacters = (bytes: Buffer): number => {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
};
