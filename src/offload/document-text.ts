/** Extracts the text of a document, by the format that its bytes show. */
import { ApiError } from '../errors.ts';
import { asBuffer, decode } from '../media/base64.ts';
import { sniffMediaType } from '../media/media-type.ts';
import type { DocumentSource } from '../ports/offload.ts';
import { checkLength, type DocumentBounds, unreadable } from './document-bounds.ts';
import { docxText } from './docx-text.ts';
import { htmlText } from './html-text.ts';
import { looksLikeHtml } from './looks-like-html.ts';
import { decodeText, isText } from './text-encoding.ts';

export const documentText = async (
  source: DocumentSource,
  filename: string,
  bounds: DocumentBounds,
): Promise<string> => {
  const bytes = source instanceof Uint8Array ? asBuffer(source) : decode(source.base64);
  if (bytes.length === 0) throw unreadable('the document is empty');
  const text = await textOf(bytes, filename, bounds);
  checkLength(text.length, bounds);
  if (text.trim() === '') throw unreadable('the document holds no text');
  return text;
};

const textOf = async (bytes: Buffer, filename: string, bounds: DocumentBounds): Promise<string> => {
  const mediaType = sniffMediaType(bytes);
  if (mediaType === 'application/pdf' && !isAboutPdf(bytes)) {
    const { pdfText } = await import('./pdf-text.ts');
    return orUnreadable('PDF', () => pdfText(bytes, bounds));
  }
  if (mediaType === 'application/zip') return orUnreadable('DOCX', () => docxText(bytes, bounds));
  if (starts(bytes, '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')) {
    throw unreadable(
      'the document is encrypted or in an old Office format; send it as PDF or as an open DOCX',
    );
  }
  if (starts(bytes, '{\\rtf'))
    throw unreadable('RTF documents are not supported; send PDF, DOCX or plain text');
  const text = decodeText(bytes);
  if (text === undefined) {
    throw unreadable(
      mediaType === undefined
        ? 'the document is not a PDF, a DOCX or text'
        : `the document is ${mediaType}, which holds no text`,
    );
  }
  return looksLikeHtml(text, filename) ? htmlText(text, bounds) : text;
};

/** Something else may stand before a PDF's first line, but prose that merely speaks of it is prose. */
const isAboutPdf = (bytes: Buffer): boolean => !starts(bytes, '%PDF-') && isText(bytes);

const orUnreadable = async (kind: string, read: () => string | Promise<string>): Promise<string> => {
  try {
    return await read();
  } catch (reason) {
    if (reason instanceof ApiError) throw reason;
    throw unreadable(`the ${kind} is damaged and cannot be read`, reason);
  }
};

const starts = (bytes: Buffer, signature: string): boolean =>
  bytes.toString('latin1', 0, signature.length) === signature;
