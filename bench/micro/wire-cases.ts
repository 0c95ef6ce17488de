/** Micro-benchmarks of the wire: encoding a call, decoding a response. */
import { openAiWire } from '../../src/engines/wires/openai/wire.ts';
import { doneFrame, finishChunk, roleChunk, usageChunk } from '../chunks.ts';
import type { MicroCase } from './run.ts';
import { call, chunkStart, engineRow, model, tokenChunk, wholeAnswer } from './samples.ts';

const one = tokenChunk(1);
const ten = Buffer.concat(Array.from({ length: 10 }, (_, index) => tokenChunk(index)));
const first = Buffer.from(roleChunk(chunkStart) + tokenChunk(0).toString());
const last = Buffer.from(finishChunk(chunkStart) + usageChunk(chunkStart, 120, 64) + doneFrame);
const decoder = openAiWire.chat.decodeStream(model, call);
decoder.push(first);

const firstAndLast = (): unknown => {
  const short = openAiWire.chat.decodeStream(model, call);
  short.push(first);
  return short.push(last);
};

export const wireCases: readonly MicroCase[] = [
  { name: 'wire: encode a call', run: () => openAiWire.chat.encode(model, call, engineRow) },
  {
    name: 'wire: decode a non-streamed response',
    run: () => openAiWire.chat.decodeWhole(model, call, wholeAnswer),
  },
  { name: 'wire: decode a read of one token', run: () => decoder.push(one) },
  { name: 'wire: decode a read of ten tokens', run: () => decoder.push(ten) },
  { name: 'wire: first and last read of a stream', run: firstAndLast },
];
