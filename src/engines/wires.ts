/** The wires that rows of `engines` may name. */
import type { Wire } from './wire.ts';
import { anthropicWire } from './wires/anthropic/wire.ts';
import { openAiWire } from './wires/openai/wire.ts';

export type Wires = ReadonlyMap<string, Wire>;

export const wires: Wires = new Map<string, Wire>([
  ['openai', openAiWire],
  ['anthropic', anthropicWire],
]);
