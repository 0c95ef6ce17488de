/** Limits of document sizes, and the errors for documents that exceed them or cannot be read. */
import { type ApiError, fail } from '../errors.ts';

export interface DocumentBounds {
  readonly maxPages: number;
  /** Bytes of a DOCX when unpacked. */
  readonly maxExpanded: number;
  readonly maxCharacters: number;
  /** Elements inside each other: the parser's time grows with the square of it. */
  readonly maxDepth: number;
}

export const unreadable = (message: string, cause?: unknown): ApiError =>
  fail('invalid_request', message, cause === undefined ? undefined : { cause });

/** Throws when elements are nested past the bound. */
export const checkDepth = (depth: number, { maxDepth }: DocumentBounds): void => {
  if (depth > maxDepth) throw unreadable(`the document is nested more than ${maxDepth} levels deep`);
};

/** Throws when a document's text has grown past its bound. */
export const checkLength = (length: number, { maxCharacters }: DocumentBounds): void => {
  if (length > maxCharacters) {
    throw unreadable(`the document holds more than ${maxCharacters} characters of text`);
  }
};
