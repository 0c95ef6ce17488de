/** The Messages API as Anthropic, vLLM, SGLang, llama.cpp and another Sluice serve it. */
import type { Model } from '../../../../schemas/catalog.ts';
import type { ErrorReading, Wire } from '../../wire.ts';
import { readContextFull } from '../shared/context-full.ts';
import { errorMessage } from '../shared/reported-error.ts';
import { decodeWhole } from './decode-message.ts';
import { MessageStreamDecoder } from './decode-stream.ts';
import { encodeMessages } from './encode.ts';

export const anthropicWire = {
  headers: (key) => ({
    'anthropic-version': '2023-06-01',
    ...(key === undefined ? {} : { 'x-api-key': key }),
  }),
  readError: (status, body): ErrorReading => {
    const message = errorMessage(body);
    return { status: trueStatus(status, message ?? ''), message };
  },
  chat: {
    oneAnswer: true,
    encode: (model, call) => ({ path: '/messages', body: encodeMessages(model, call) }),
    decodeStream: (model) => new MessageStreamDecoder(thinks(model)),
    decodeWhole: (model, _call, body) => decodeWhole(body, thinks(model)),
    readContextFull,
  },
} satisfies Wire;

/** An unpaid account is the operator's matter, not the client's; a prompt that is too long is no failure of the server. */
const trueStatus = (status: number, message: string): number => {
  if (status === 400 && /credit balance is too low/i.test(message)) return 402;
  return status === 500 && readContextFull(message) !== undefined ? 400 : status;
};

const thinks = ({ reasoning }: Model): boolean => reasoning !== undefined;
