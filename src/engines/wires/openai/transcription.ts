/** Transcription of the OpenAI API, with the variants of vLLM, Speaches and whisper.cpp. */
import { type ApiError, asApiError } from '../../../errors.ts';
import type { Recording } from '../../../ports/engines/transcription.ts';
import type { TranscriptDecoder, TranscriptionWire } from '../../wire.ts';
import { isObject, type Json, parseObject } from '../shared/json.ts';
import { unreadable } from '../shared/json-picker.ts';
import { type FormFile, formBody } from '../shared/multipart.ts';
import { reportedError } from '../shared/reported-error.ts';
import { SseDecoder } from '../shared/sse-decoder.ts';

export const transcriptionWire: TranscriptionWire = {
  encode: (model, { audio, language, prompt, temperature }, stream) => {
    const fields: Record<string, string> = { model: model.served_as, response_format: 'json' };
    if (language !== undefined) fields.language = language;
    if (prompt !== undefined) fields.prompt = prompt;
    if (temperature !== undefined) fields.temperature = String(temperature);
    if (stream) fields.stream = 'true';
    return { path: '/audio/transcriptions', ...formBody(fields, [fileOf(audio)]) };
  },
  decodeWhole: (body) => {
    const value = parseObject(body.toString());
    const failure = reportedError(value);
    if (failure !== undefined) throw failure;
    if (typeof value.text !== 'string') throw unreadable(new Error('The answer has no text'));
    return value.text;
  },
  decodeStream: () => new TranscriptEvents(),
};

const mediaTypes: Readonly<Record<string, string>> = { mp3: 'mpeg', m4a: 'mp4' };

/** Servers recognize the format by the file name. */
const fileOf = ({ bytes, container }: Recording): FormFile => ({
  field: 'file',
  fileName: `audio.${container}`,
  mediaType: `audio/${mediaTypes[container] ?? container}`,
  bytes,
});

/** OpenAI's events, or the chunks that vLLM makes after the pattern of chat. */
class TranscriptEvents implements TranscriptDecoder {
  done = false;
  failure: ApiError | undefined;
  readonly #events = new SseDecoder((text, start, end) => this.#event(text.slice(start, end)));
  #pieces = '';
  #any = false;

  push(bytes: Buffer): string {
    this.#events.push(bytes);
    return this.#take();
  }

  end(): string {
    this.#events.end();
    return this.#take();
  }

  #take(): string {
    const pieces = this.#pieces;
    this.#pieces = '';
    return pieces;
  }

  #event(data: string): void {
    if (this.done || this.failure !== undefined) return;
    if (data === '[DONE]') {
      this.done = true;
      return;
    }
    try {
      const event = parseObject(data);
      this.failure = reportedError(event);
      if (this.failure === undefined) this.#push(event);
    } catch (thrown) {
      this.failure = asApiError(thrown);
    }
  }

  /** Events of other types are ignored; text that is no text would be missing. */
  #push(event: Json): void {
    if (event.type === 'transcript.text.done') {
      // A server without deltas sends all of it at the end.
      if (!this.#any) this.#add(event.text);
      this.done = true;
    } else if (event.type === 'transcript.text.delta') this.#add(event.delta);
    else if (event.choices != null) this.#add(chunkText(event.choices));
  }

  #add(text: unknown): void {
    if (typeof text !== 'string') throw unreadable(new Error('An event has no text'));
    if (text === '') return;
    this.#any = true;
    this.#pieces += text;
  }
}

/** The last chunk may have no choice, and one that ends it no text. */
const chunkText = (choices: unknown): unknown => {
  if (!Array.isArray(choices)) throw unreadable(new Error('The choices of a chunk are no list'));
  const [choice] = choices as unknown[];
  if (choice === undefined) return '';
  if (!isObject(choice)) throw unreadable(new Error('A choice is no object'));
  const delta = choice.delta ?? {};
  if (!isObject(delta)) throw unreadable(new Error('The delta of a choice is no object'));
  return delta.content ?? '';
};
