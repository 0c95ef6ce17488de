/** Detects how an upload is to be read, from its bytes as they stream by. */
import type { FileFormat } from '../../schemas/vector-stores/records.ts';
import { sniffMediaType } from '../media/media-type.ts';
import { looksLikeHtml } from '../offload/looks-like-html.ts';
import { undecided } from '../offload/text-decoder.ts';
import { TextSample } from '../offload/text-sample.ts';
import type { Offload } from '../ports/offload.ts';

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
  readonly #sample = new TextSample();
  readonly #offload: Pick<Offload, 'textEncoding'>;

  constructor(offload: Pick<Offload, 'textEncoding'>) {
    this.#offload = offload;
  }

  push(chunk: Buffer): void {
    this.#sample.push(chunk);
  }

  async verdict(filename: string, declared: string, signal?: AbortSignal): Promise<Verdict> {
    const sample = this.#sample;
    if (sample.size === 0) return unreadable('the file is empty');
    const sniffed = sniffMediaType(sample.head);
    if (sample.starts('%PDF-')) return document('application/pdf');
    if (sniffed === 'application/zip') return document(docx);
    if (sample.starts('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'))
      return unreadable(
        'the file is encrypted or in an old Office format; send it as PDF or as an open DOCX',
      );
    if (sample.starts('{\\rtf'))
      return unreadable('RTF documents are not supported; send PDF, DOCX or plain text');
    const known = sample.encoding();
    const encoding =
      known && ('label' in known ? known.label : await this.#offload.textEncoding(known, signal));
    if (encoding === undefined) {
      if (sniffed === 'application/pdf') return document(sniffed);
      if (known !== undefined && 'wide' in known && !known.wide)
        return unreadable(`the file cannot be read: ${undecided}`);
      return unreadable(
        sniffed === undefined
          ? 'the file is not a PDF, a DOCX or text'
          : `the file is ${sniffed}, which holds no text`,
      );
    }
    if (sample.isBlank) return unreadable('the file holds no text');
    if (looksLikeHtml(sample.head.toString('latin1'), filename)) return document('text/html');
    return { readable: true, format: { kind: 'text', encoding }, mediaType: textType(filename, declared) };
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
