/** Names of vector stores, files and items, and what is said when there is nothing under one. */
import { createHash, randomBytes } from 'node:crypto';
import { type ApiError, fail } from '../errors.ts';

export const newVectorStoreId = (): string => `vs_${randomBytes(12).toString('hex')}`;
export const newFileId = (): string => `file-${randomBytes(12).toString('hex')}`;

/** The same each time: a file that is read again after a restart replaces what it left. */
export const itemId = (file: string, index: number): string =>
  `item_${createHash('sha256').update(`${file}/${index}`).digest('hex').slice(0, 24)}`;

export const blobOf = (file: string): string => `uploads/${file}`;

/** `id: there is no vector store "vs_…"`. */
export const absent = (field: string, what: string, id: string): ApiError =>
  fail('invalid_request', `${field}: there is no ${what} ${JSON.stringify(id.slice(0, 100))}`);
