/** The OpenAI HTTP API as vLLM, SGLang, llama.cpp, TGI, Ollama, OpenAI and another Sluice serve it. */
import type { Model } from '../../../../schemas/catalog.ts';
import type { ChatCall } from '../../../ports/engines/chat.ts';
import type { ErrorReading, Wire } from '../../wire.ts';
import { readContextFull } from '../shared/context-full.ts';
import { errorMessage } from '../shared/reported-error.ts';
import { systemOneWire } from './ask-systemone.ts';
import { completionWire } from './completions.ts';
import { chatContinuation, textContinuation } from './continuation.ts';
import { OpenAiStreamDecoder } from './decode-stream.ts';
import { WholeDecoder } from './decode-whole.ts';
import { embeddingWire } from './embed.ts';
import { encodeChat } from './encode.ts';
import { imageWire } from './images.ts';
import { rerankWire } from './rerank.ts';
import type { AnswerOptions } from './response-decoder.ts';
import { continuationWire } from './score.ts';
import { speechWire } from './speech.ts';
import { tokenizerWire } from './tokenize.ts';
import { transcriptionWire } from './transcription.ts';
import { isFailedJob, renderWire } from './videos.ts';

/** The response shapes it has learnt hold for every server. */
const wholeAnswers = new WholeDecoder();

export const openAiWire = {
  headers: (key) => (key === undefined ? {} : { authorization: `Bearer ${key}` }),
  readError: (status, body): ErrorReading => {
    const message = errorMessage(body);
    const refused = (status === 500 && isRefusal(message ?? '')) || isFailedJob(body);
    return { status: refused ? 400 : status, message };
  },
  chat: {
    encode: (model, call, row) => ({ path: '/chat/completions', body: encodeChat(model, call, row) }),
    decodeStream: (model, call) => new OpenAiStreamDecoder(answerOptions(model, call)),
    decodeWhole: (model, call, body) => wholeAnswers.decode(body, answerOptions(model, call)),
    readContextFull,
    continuation: chatContinuation,
  },
  completions: { ...completionWire, continuation: textContinuation },
  embeddings: embeddingWire,
  decisions: {
    takesQuestions: ({ capabilities }) => capabilities?.decision?.asked_by === 'systemone',
    questions: systemOneWire,
    continuations: continuationWire,
  },
  rerank: rerankWire,
  tokenizer: tokenizerWire,
  images: imageWire,
  renders: renderWire,
  speech: speechWire,
  transcription: transcriptionWire,
} satisfies Wire;

/**
 * Ollama reports a JSON schema that it cannot follow as its own failure, llama.cpp and Ollama a prompt that is too long:
 * it would count against the replica.
 */
const isRefusal = (message: string): boolean =>
  schemaRefusal.test(message) || readContextFull(message) !== undefined;

const schemaRefusal = /^(?:invalid JSON schema in|failed to load model vocabulary required for) format$/;

const answerOptions = (model: Model, call: ChatCall): AnswerOptions => ({
  choices: call.n,
  thinks: model.reasoning !== undefined,
});
