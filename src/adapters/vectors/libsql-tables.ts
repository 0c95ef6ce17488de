/** The tables of the embedded vectors, and the rows that readers and writers share. */
import type { Item } from '../../ports/vectors.ts';

/**
 * A item is visible when it lies at or before its file's `published` sequence: publishing a file of any size is one
 * row changed. A item without its file is garbage; `doomed` lists those files. Every change of what is visible has a
 * version of its store, by which in-memory copies know what to reload. Numbers are never reused.
 * Text from clients is stored as blobs: the library ends a text at its first zero character.
 */
export const schema = `
   CREATE TABLE store (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL UNIQUE,
     dimensions INTEGER NOT NULL,
     version INTEGER NOT NULL
   );
   CREATE TABLE file (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     store INTEGER NOT NULL,
     id TEXT NOT NULL,
     published INTEGER NOT NULL,
     visible INTEGER NOT NULL,
     UNIQUE (store, id)
   );
   CREATE TABLE item (
     sequence INTEGER PRIMARY KEY AUTOINCREMENT,
     store INTEGER NOT NULL,
     file INTEGER NOT NULL,
     id TEXT NOT NULL,
     place INTEGER NOT NULL,
     created INTEGER NOT NULL,
     updated INTEGER NOT NULL,
     filename BLOB NOT NULL,
     text BLOB NOT NULL,
     description BLOB NOT NULL,
     UNIQUE (store, id)
   );
   CREATE INDEX item_in_order ON item (store, created, place, id, file);
   CREATE INDEX item_of_file ON item (file, created, place, id);
   CREATE INDEX item_by_sequence ON item (file, sequence, id, store);
   CREATE TABLE vector (sequence INTEGER PRIMARY KEY, numbers BLOB NOT NULL);
   CREATE TABLE change (
     store INTEGER NOT NULL,
     version INTEGER NOT NULL,
     file INTEGER NOT NULL,
     sequence INTEGER
   );
   CREATE INDEX change_by_version ON change (store, version);
   CREATE TABLE doomed (file INTEGER PRIMARY KEY);`;

/** Changes that are kept: a copy that has missed more is reloaded in full. */
export const rememberedChanges = 1_000;

export const visibleItems =
  'item p JOIN file f ON f.number = p.file AND p.sequence <= f.published AND f.store = p.store';

export const itemColumns = 'p.id, f.id, p.filename, p.place, p.text, p.description, p.created, p.updated';

export type ItemRow = [
  id: string,
  file: string,
  filename: Uint8Array,
  index: number,
  text: Uint8Array,
  description: Uint8Array,
  createdAt: number,
  updatedAt: number,
];

export const toItem = ([id, file, filename, index, text, description, ...times]: ItemRow): Item => ({
  id,
  file,
  filename: wordsOf(filename),
  index,
  text: wordsOf(text),
  description: wordsOf(description),
  createdAt: times[0],
  updatedAt: times[1],
});

export const bytesOf = (words: string): Uint8Array => Buffer.from(words);
const wordsOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
