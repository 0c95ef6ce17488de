/** What a gateway tells the process that starts others for it, and what it hears. */

export interface StartOrder {
  readonly order: 'start';
  readonly id: number;
  readonly file: string;
  readonly arguments: readonly string[];
}

export interface KillOrder {
  readonly order: 'kill';
  readonly id: number;
}

export type Order = StartOrder | KillOrder;

export interface Ending {
  /** Null when a signal ended it. */
  readonly code: number | null;
  /** What it told about its work. */
  readonly log: string;
}

export type Word =
  | { readonly word: 'started'; readonly id: number; readonly pid: number }
  | { readonly word: 'failed'; readonly id: number; readonly message: string }
  | ({ readonly word: 'ended'; readonly id: number } & Ending);

/** Where the gateway listens, in the folder that both know. */
export const socketName = 'socket';

/** Every connection begins with whose it is, and whether it becomes the input (0) or the output (1). */
export const greetingLength = 5;

export const greeting = (id: number, stream: 0 | 1): Buffer => {
  const bytes = Buffer.alloc(greetingLength);
  bytes.writeUInt32LE(id);
  bytes.writeUInt8(stream, 4);
  return bytes;
};
