/** Messages between the main thread and a worker thread. */
import type { ErrorKind } from '../errors.ts';
import type { SplitRules, TextWindow } from '../ports/offload.ts';
import type { DocumentBounds } from './document-bounds.ts';
import type { JsonBounds } from './json-scan.ts';

export interface DocumentTask {
  readonly type: 'document';
  /** The document, or its base64. */
  readonly payload: Uint8Array;
  readonly isBase64: boolean;
  readonly filename: string;
  readonly bounds: DocumentBounds;
}

export type Task =
  | {
      readonly type: 'json';
      readonly bytes: Uint8Array;
      readonly bounds: JsonBounds;
      readonly wideKey: string | undefined;
    }
  | { readonly type: 'tokens'; readonly texts: readonly string[]; readonly tokenizer: string }
  | {
      readonly type: 'cut';
      readonly texts: readonly string[];
      readonly tokenizer: string;
      readonly limit: number;
    }
  | DocumentTask
  | { readonly type: 'encoding'; readonly sample: Uint8Array; readonly wide: boolean }
  | {
      readonly type: 'split';
      readonly window: TextWindow;
      readonly rules: SplitRules;
      readonly tokenizer: string;
    };

export type Outcome =
  | { readonly type: 'done'; readonly value: unknown }
  | { readonly type: 'refused'; readonly kind: ErrorKind; readonly message: string }
  | { readonly type: 'syntax'; readonly message: string }
  | { readonly type: 'failed'; readonly error: unknown };
