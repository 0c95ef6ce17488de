/** The built-in engine: deterministic responses to every kind of call, without a model. */
import type { Codec } from '../ports/codec.ts';
import type { Engine } from '../ports/engines/engine.ts';
import type { Shared } from '../ports/shared.ts';
import { type ChatPace, simulateChat } from './chat/chat.ts';
import { simulateCompletion } from './chat/text-completion.ts';
import { simulateDetokenize, simulateTokenize } from './chat/tokenize.ts';
import { simulateDecisions } from './embeddings/decide.ts';
import { simulateEmbeddings } from './embeddings/embed.ts';
import { simulateRerank } from './embeddings/rerank.ts';
import { createImageStudio } from './images/image.ts';
import { simulateMusic } from './renders/music.ts';
import { simulateVideo } from './renders/video.ts';
import { SpeechMemory } from './speech/memory.ts';
import { Speaker, simulateSpeech } from './speech/speech.ts';
import { simulateTranscription } from './speech/transcribe.ts';
import { type Clock, systemClock, Ticker } from './ticker.ts';

export interface SimulatorOptions {
  /** Tokens a second of each answer; `Number.POSITIVE_INFINITY` for as fast as the reader takes them. */
  readonly rate?: number;
  /** Milliseconds before the first token. */
  readonly first?: number;
  readonly clock?: Clock;
  /** Reads recordings and writes videos and songs; without it recordings are described by their length alone, and nothing is rendered. */
  readonly codec?: Shared<Codec>;
  /** Of the time that a real model is expected to take for a video or a song. */
  readonly renderScale?: number;
}

/** Long enough to be watched. */
const defaultRenderScale = 0.1;

/** Fast, and yet one token at a time to the eye. */
const defaultRate = 200;

export const paceOf = ({ rate = defaultRate, first = 0 }: SimulatorOptions): ChatPace => ({ rate, first });

export function createSimulator(options: SimulatorOptions = {}): Engine & Pick<Required<Engine>, 'chat'> {
  const pace = paceOf(options);
  const ticker = new Ticker(options.clock ?? systemClock);
  const drawImages = createImageStudio();
  const speaker = new Speaker();
  const memory = new SpeechMemory();
  return {
    chat: (model, call, flow) => simulateChat(model, call, flow, pace, ticker),
    complete: (_model, call, flow) => simulateCompletion(call, flow, pace, ticker),
    embed: (model, call) => simulateEmbeddings(model, call, ticker),
    decide: (_model, call) => simulateDecisions(call, ticker),
    rerank: (_model, call) => simulateRerank(call, ticker),
    tokenize: (_model, call) => simulateTokenize(call, ticker),
    detokenize: (_model, call) => simulateDetokenize(call),
    speak: (_model, call, flow) => simulateSpeech(call, flow, { speaker, memory, ticker }),
    transcribe: (_model, call, flow) =>
      simulateTranscription(call, flow, {
        codec: options.codec?.for(flow.subscription),
        memory,
        ticker,
        rate: pace.rate,
      }),
    image: (_model, call, flow) => drawImages(call, ticker, flow.subscription),
    ...(options.codec && { render: createRenderer(options.codec, ticker, options) }),
  };
}

const createRenderer = (
  codec: Shared<Codec>,
  ticker: Ticker,
  { renderScale = defaultRenderScale }: SimulatorOptions,
): NonNullable<Engine['render']> => {
  return (model, call, flow) => {
    const studio = { codec: codec.for(flow.subscription), ticker, timeScale: renderScale };
    return call.type === 'video'
      ? simulateVideo(studio, model, call, flow)
      : simulateMusic(studio, model, call, flow);
  };
};
