/** Frames a transcript as one response, or as an event for each part. */
import { map, type Observer, pipe, reduce } from 'rxjs';
import { secondsCost } from '../../src/billing/cost.ts';
import type { Transcribed } from '../../src/ports/engines/transcription.ts';
import { jsonReply, type Reply, type WholeReply } from '../../src/ports/exchange.ts';
import { fromOperator, type Transform, transform } from '../core/stage.ts';
import { EventFrame, sseEvent } from './event-frame.ts';
import type { TranscriptionTask } from './read-transcription.ts';

interface Transcribing {
  readonly task: TranscriptionTask;
}

export const frameTranscription: Transform<Transcribed, Reply, Transcribing> = transform((next, context) =>
  context.task.call.stream ? new TranscriptEvents(next, context.task) : frameWhole.open(next, context),
);

const frameWhole: Transform<Transcribed, Reply, Transcribing> = fromOperator(({ task }) =>
  pipe(
    reduce((text, part) => text + part.text, ''),
    map((text) => (task.format === 'text' ? textReply(text) : jsonReply({ text, usage: usageOf(task) }))),
  ),
);

const textReply = (text: string): WholeReply => ({
  kind: 'whole',
  status: 200,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: text,
});

class TranscriptEvents extends EventFrame<Transcribed> {
  protected readonly failure = 'transcript.text.error';
  readonly #task: TranscriptionTask;
  #text = '';

  constructor(receiver: Observer<Reply>, task: TranscriptionTask) {
    super(receiver);
    this.#task = task;
  }

  next({ text }: Transcribed): void {
    this.#text += text;
    this.send(sseEvent({ type: 'transcript.text.delta', delta: text }));
  }

  override complete(): void {
    this.end(sseEvent({ type: 'transcript.text.done', text: this.#text, usage: usageOf(this.#task) }));
  }
}

const usageOf = ({ seconds, model }: TranscriptionTask) => ({
  type: 'duration',
  seconds,
  cost: Number(secondsCost(seconds, model.pricing)),
});
