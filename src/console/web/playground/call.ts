/** One request of the playground: what is sent, and what is shown as curl, Python and TypeScript. */

export interface PickedFile {
  readonly name: string;
  /** Its media type; empty where the browser does not know it. */
  readonly type: string;
}

/** The content of a file inside a JSON body, as base64. */
export class FileText {
  readonly file: PickedFile;
  /** Of a data URI, or empty. */
  readonly prefix: string;

  constructor(file: PickedFile, prefix = '') {
    this.file = file;
    this.prefix = prefix;
  }
}

export const mediaTypeOf = ({ type }: PickedFile): string =>
  /^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : 'application/octet-stream';

export const dataUri = (file: PickedFile): FileText =>
  new FileText(file, `data:${mediaTypeOf(file)};base64,`);

/** Undefined members are left out. */
export type Json = string | number | boolean | null | FileText | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json | undefined;
}

export interface Call {
  /** Below the base URL. */
  readonly path: string;
  readonly json?: JsonObject;
  /** Sent instead of JSON. */
  readonly form?: readonly (readonly [name: string, value: string | PickedFile])[];
  readonly result: Result;
}

/**
 * `events`: server-sent ones. `file`: bytes, with a name to save them by. `job`: rendered in the background; its content is
 * saved by that name.
 */
export type Result =
  | { readonly kind: 'json' }
  | { readonly kind: 'events' }
  | { readonly kind: 'file' | 'job'; readonly name: string };
