/** Routes the HTTP requests of an OpenAI-like engine. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { asApiError, fail } from '../../errors.ts';
import { Backpressure } from '../../ports/backpressure.ts';
import { type ChatPace, simulateChat } from '../chat/chat.ts';
import type { ThinkingModel } from '../chat/thinking.ts';
import { createImageStudio, type DrawImages } from '../images/image.ts';
import { paceOf } from '../simulator.ts';
import { systemClock, Ticker } from '../ticker.ts';
import { answerChat } from './chat-request.ts';
import { answerImages } from './images.ts';
import { checkModel, type SimulatorServerOptions } from './options.ts';
import type { Quirks } from './quirks.ts';
import { readBody, readBytes, readForm } from './read-body.ts';
import { readImagesRequest } from './read-images.ts';
import { readRequest } from './read-request.ts';
import { RenderRoutes } from './renders.ts';
import { sendError, sendJson } from './responses.ts';
import { answerSpeech, readSpeech, SoundStudio } from './speech.ts';
import type { CallCounter } from './stats.ts';
import { answerTranscription } from './transcription.ts';

interface Service {
  readonly options: SimulatorServerOptions;
  readonly quirks: Quirks;
  readonly pace: ChatPace;
  readonly ticker: Ticker;
  readonly calls: CallCounter;
  readonly drawImages: DrawImages;
  readonly studio: SoundStudio;
  readonly renders: RenderRoutes;
}

interface Route {
  readonly method: string;
  readonly run: (
    service: Service,
    request: IncomingMessage,
    response: ServerResponse,
  ) => Promise<void> | void;
}

const routes: ReadonlyMap<string, Route> = new Map([
  ['/v1/chat/completions', { method: 'POST', run: chat }],
  ['/v1/images/generations', { method: 'POST', run: images }],
  ['/v1/images/edits', { method: 'POST', run: images }],
  ['/v1/audio/speech', { method: 'POST', run: speech }],
  ['/v1/audio/transcriptions', { method: 'POST', run: transcription }],
  ['/v1/models', { method: 'GET', run: models }],
  ['/health', { method: 'GET', run: health }],
]);

const defaultModels = ['simulator', 'simulator-reasoning'];

export interface RunningService {
  readonly listener: RequestListener;
  /** Gives up what still renders, and ends the processes that do it. */
  close(): Promise<void>;
}

export function createService(options: SimulatorServerOptions, calls: CallCounter): RunningService {
  const quirks = new Set(options.quirks);
  const ticker = new Ticker(options.clock ?? systemClock);
  const studio = new SoundStudio(ticker, paceOf(options).rate);
  const service: Service = {
    options,
    quirks,
    ticker,
    calls,
    pace: paceOf(options),
    drawImages: createImageStudio(),
    studio,
    renders: new RenderRoutes(
      { codec: studio.codec, ticker, timeScale: options.renderScale ?? 0.1 },
      options,
    ),
  };
  return {
    listener: (request, response) => {
      serve(service, request, response).catch((thrown: unknown) =>
        sendError(response, asApiError(thrown), quirks),
      );
    },
    close: () => {
      service.renders.close();
      return studio.codec.close();
    },
  };
}

async function serve(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { key } = service.options;
  const path = (request.url ?? '').split('?', 1)[0] ?? '';
  const route = routes.get(path) ?? service.renders.route(request.method ?? '', path);
  if (route === undefined) throw fail('not_found', 'Not Found');
  if (request.method !== route.method) {
    throw fail('method_not_allowed', 'Method Not Allowed', { headers: { allow: route.method } });
  }
  if (key !== undefined && request.headers.authorization !== `Bearer ${key}`) {
    throw fail('authentication', 'Unauthorized');
  }
  await route.run(service, request, response);
}

async function chat(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { options, quirks, pace, ticker, calls } = service;
  const body = await readBody(request);
  options.onRequest?.({ body, headers: request.headers });
  const chatRequest = readRequest(body);
  const { model, call } = chatRequest;
  checkModel(model, options);
  const backpressure = new Backpressure();
  const answer = simulateChat(
    playedModel(model),
    call,
    { requestId: '', subscription: '', backpressure },
    pace,
    ticker,
  );
  answerChat(chatRequest, response, answer, backpressure, quirks, calls);
}

async function images(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { options, quirks, ticker, drawImages } = service;
  const { model, call, links, fields } = await readImagesRequest(request);
  options.onRequest?.({ body: fields, headers: request.headers });
  checkModel(model, options);
  answerImages(drawImages(call, ticker), links, response, quirks);
}

async function speech(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { options, quirks, studio } = service;
  const body = await readBody(request);
  options.onRequest?.({ body, headers: request.headers });
  const speechRequest = readSpeech(body);
  checkModel(speechRequest.model, options);
  answerSpeech(speechRequest, studio, response, quirks);
}

async function transcription(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { options, quirks, studio } = service;
  const form = await readForm(await readBytes(request), request.headers['content-type'] ?? '');
  options.onRequest?.({ body: form.fields, headers: request.headers });
  checkModel(form.fields.model ?? '', options);
  await answerTranscription(form, studio, response, quirks);
}

/** Every model thinks when asked; those with a telling name think unasked. */
function playedModel(id: string): ThinkingModel {
  const isThinker = /reason|think/i.test(id);
  return { reasoning: { mandatory: false, supports_max_tokens: true, default_enabled: isThinker } };
}

function models({ options }: Service, _request: IncomingMessage, response: ServerResponse): void {
  const model = { object: 'model', created: 0, owned_by: 'simulator' };
  const data = (options.models ?? defaultModels).map((id) => ({ id, ...model }));
  sendJson(response, JSON.stringify({ object: 'list', data }));
}

function health(_service: Service, _request: IncomingMessage, response: ServerResponse): void {
  sendJson(response, '{"status":"ok"}');
}
