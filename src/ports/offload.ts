/** Work that would hold up the event loop, done on threads: bounded in parallel runs, queue and time. */

export interface Offload {
  /** A large JSON text → its value. Rejects with a SyntaxError as JSON.parse throws it. */
  parseJson(bytes: Uint8Array): Promise<unknown>;
  /** Number of tokens of all texts together, by the named tokenizer's own rules. */
  countTokens(texts: readonly string[], tokenizer: string): Promise<number>;
  /** The text of a PDF, DOCX, HTML, Markdown, CSV or plain-text document. Rejects with `invalid_request` when it cannot be read. */
  documentText(bytes: Uint8Array, filename: string): Promise<string>;
  close(): Promise<void>;
}
