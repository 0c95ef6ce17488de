/** Routes the HTTP requests of an OpenAI-like engine. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { asApiError, fail } from '../../errors.ts';
import { Backpressure } from '../../ports/backpressure.ts';
import { simulateChat } from '../chat/chat.ts';
import { simulateCompletion } from '../chat/text-completion.ts';
import type { ThinkingModel } from '../chat/thinking.ts';
import { simulateEmbeddings } from '../embeddings/embed.ts';
import { simulateRerank } from '../embeddings/rerank.ts';
import { createImageStudio } from '../images/image.ts';
import { paceOf } from '../simulator.ts';
import { systemClock, Ticker } from '../ticker.ts';
import { answerParts, chatFormat, completionFormat } from './chat-request.ts';
import { answerJson, embeddingsJson, readEmbedding, readRerank, rerankJson } from './embeddings.ts';
import { answerImages } from './images.ts';
import { checkModel, type SimulatorServerOptions } from './options.ts';
import type { Quirks } from './quirks.ts';
import { readBody, readBytes, readForm } from './read-body.ts';
import { readCompletion } from './read-completion.ts';
import { readImagesRequest } from './read-images.ts';
import { readRequest } from './read-request.ts';
import { createRenderRoutes, type Handler, type Route } from './renders.ts';
import { sendError, sendJson } from './responses.ts';
import { answerSpeech, createSoundStudio, readSpeech } from './speech.ts';
import type { CallCounter } from './stats.ts';
import { answerTranscription } from './transcription.ts';

const defaultModels = ['simulator', 'simulator-reasoning'];

interface RunningService {
  readonly listener: RequestListener;
  /** Gives up what still renders, and ends the processes that do it. */
  close(): Promise<void>;
}

export function createService(options: SimulatorServerOptions, calls: CallCounter): RunningService {
  const quirks: Quirks = new Set(options.quirks);
  const ticker = new Ticker(options.clock ?? systemClock);
  const pace = paceOf(options);
  const drawImages = createImageStudio();
  const studio = createSoundStudio(ticker, pace.rate);
  const renderStudio = { codec: studio.codec, ticker, timeScale: options.renderScale ?? 0.1 };
  const renders = createRenderRoutes(renderStudio, options);
  const report = (body: unknown, { headers }: IncomingMessage): void =>
    options.onRequest?.({ body, headers });

  const chat: Handler = async (request, response) => {
    const body = await readBody(request);
    report(body, request);
    const chatRequest = readRequest(body);
    const { model, call } = chatRequest;
    checkModel(model, options);
    const backpressure = new Backpressure();
    const flow = { requestId: '', subscription: '', backpressure };
    const answer = simulateChat(playedModel(model), call, flow, pace, ticker);
    answerParts(chatRequest, chatFormat, response, answer, backpressure, quirks, calls);
  };

  const completion: Handler = async (request, response) => {
    const body = await readBody(request);
    report(body, request);
    const completionRequest = readCompletion(body);
    checkModel(completionRequest.model, options);
    const backpressure = new Backpressure();
    const flow = { requestId: '', subscription: '', backpressure };
    const answer = simulateCompletion(completionRequest.call, flow, pace, ticker);
    answerParts(completionRequest, completionFormat, response, answer, backpressure, quirks, calls);
  };

  const embeddings: Handler = async (request, response) => {
    const body = await readBody(request);
    report(body, request);
    const { model, call } = readEmbedding(body);
    checkModel(model, options);
    answerJson(embeddingsJson(model, simulateEmbeddings({}, call, ticker)), response, quirks);
  };

  const rerank: Handler = async (request, response) => {
    const body = await readBody(request);
    report(body, request);
    const { model, call } = readRerank(body);
    checkModel(model, options);
    answerJson(rerankJson(model, simulateRerank(call, ticker)), response, quirks);
  };

  const images: Handler = async (request, response) => {
    const { model, call, links, fields } = await readImagesRequest(request);
    report(fields, request);
    checkModel(model, options);
    answerImages(drawImages(call, ticker), links, response, quirks);
  };

  const speech: Handler = async (request, response) => {
    const body = await readBody(request);
    report(body, request);
    const speechRequest = readSpeech(body);
    checkModel(speechRequest.model, options);
    answerSpeech(speechRequest, studio, response, quirks);
  };

  const transcription: Handler = async (request, response) => {
    const form = await readForm(await readBytes(request), request.headers['content-type'] ?? '');
    report(form.fields, request);
    checkModel(form.fields.model ?? '', options);
    await answerTranscription(form, studio, response, quirks);
  };

  const models: Handler = (_request, response) => {
    const model = { object: 'model', created: 0, owned_by: 'simulator' };
    const data = (options.models ?? defaultModels).map((id) => ({ id, ...model }));
    sendJson(response, JSON.stringify({ object: 'list', data }));
  };

  const routes: ReadonlyMap<string, Route> = new Map([
    ['/v1/chat/completions', { method: 'POST', run: chat }],
    ['/v1/completions', { method: 'POST', run: completion }],
    ['/v1/embeddings', { method: 'POST', run: embeddings }],
    ['/v1/rerank', { method: 'POST', run: rerank }],
    ['/v1/images/generations', { method: 'POST', run: images }],
    ['/v1/images/edits', { method: 'POST', run: images }],
    ['/v1/audio/speech', { method: 'POST', run: speech }],
    ['/v1/audio/transcriptions', { method: 'POST', run: transcription }],
    ['/v1/models', { method: 'GET', run: models }],
    ['/health', { method: 'GET', run: (_request, response) => sendJson(response, '{"status":"ok"}') }],
  ]);

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const route = routes.get(path) ?? renders.route(request.method ?? '', path);
    if (route === undefined) throw fail('not_found', 'Not Found');
    if (request.method !== route.method)
      throw fail('method_not_allowed', 'Method Not Allowed', { headers: { allow: route.method } });
    if (options.key !== undefined && request.headers.authorization !== `Bearer ${options.key}`)
      throw fail('authentication', 'Unauthorized');
    await route.run(request, response);
  };

  return {
    listener: (request, response) => {
      serve(request, response).catch((thrown: unknown) => sendError(response, asApiError(thrown), quirks));
    },
    close: () => {
      renders.close();
      return studio.codec.close();
    },
  };
}

/** Every model thinks when asked; those with a telling name think unasked. */
function playedModel(id: string): ThinkingModel {
  const isThinker = /reason|think/i.test(id);
  return { reasoning: { mandatory: false, supports_max_tokens: true, default_enabled: isThinker } };
}
