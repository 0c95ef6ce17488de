/** Messages between the gateway and the process that spawns others for it. */
import type { Command } from './sandbox.ts';

export interface StartRequest {
  readonly request: 'start';
  readonly id: number;
  readonly command: Command;
}

interface KillRequest {
  readonly request: 'kill';
  readonly id: number;
}

export type SpawnRequest = StartRequest | KillRequest;

export interface ProcessExit {
  /** Null when a signal ended it. */
  readonly code: number | null;
  /** The beginning of what it wrote to stderr. */
  readonly log: string;
}

export type SpawnEvent =
  | { readonly event: 'started'; readonly id: number; readonly pid: number }
  | { readonly event: 'failed'; readonly id: number; readonly message: string }
  | ({ readonly event: 'ended'; readonly id: number } & ProcessExit);

/** The socket on which the gateway listens, in the folder that both know. */
export const socketName = 'socket';

/** Every connection begins with the id of its process, and whether it is the input (0) or the output (1). */
export const greetingLength = 5;

export const greeting = (id: number, stream: 0 | 1): Buffer => {
  const bytes = Buffer.alloc(greetingLength);
  bytes.writeUInt32LE(id);
  bytes.writeUInt8(stream, 4);
  return bytes;
};
