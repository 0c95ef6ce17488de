/** The wire of servers that speak the chat-completions API: vLLM, SGLang, llama.cpp, TGI, Ollama, OpenAI, another Sluice. */
import type { Model } from '../../../schemas/catalog.ts';
import type { ChatCall } from '../../ports/chat.ts';
import type { Wire } from '../wire.ts';
import { systemOneWire } from './openai/ask-systemone.ts';
import { OpenAiStreamDecoder } from './openai/decode-stream.ts';
import { WholeDecoder } from './openai/decode-whole.ts';
import { embeddingWire } from './openai/embed.ts';
import { encodeChat } from './openai/encode.ts';
import { imageWire } from './openai/images.ts';
import type { AnswerOptions } from './openai/response-decoder.ts';
import { continuationWire } from './openai/score.ts';
import { speechWire } from './openai/speech.ts';
import { transcriptionWire } from './openai/transcription.ts';
import { renderWire } from './openai/videos.ts';
import { errorSentence } from './openai/words.ts';

/** What it has learnt is true of every server. */
const wholeAnswers = new WholeDecoder();

export const openAiWire: Wire = {
  chatPath: '/chat/completions',
  encodeChat,
  decodeStream: (model, call) => new OpenAiStreamDecoder(answerOptions(model, call)),
  decodeWhole: (model, call, body) => wholeAnswers.decode(body, answerOptions(model, call)),
  errorSentence,
  embeddings: embeddingWire,
  images: imageWire,
  renders: renderWire,
  speech: speechWire,
  transcription: transcriptionWire,
  decisions: { questions: systemOneWire, continuations: continuationWire },
};

const answerOptions = (model: Model, call: ChatCall): AnswerOptions => ({
  choices: call.n,
  thinks: model.reasoning !== undefined,
});
