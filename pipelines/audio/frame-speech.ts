/** Frames speech as one file, as samples while they are made, or as events that carry either. */
import type { Observer } from 'rxjs';
import type { SpeechFormat } from '../../schemas/speech.ts';
import { secondsCost } from '../../src/billing/cost.ts';
import type { Exchange, Head, Reply } from '../../src/ports/exchange.ts';
import { estimatePiece } from '../../src/tokens/prompt.ts';
import { PacedBytes } from '../core/paced-bytes.ts';
import { Forwarder, type Transform, transform } from '../core/stage.ts';
import type { SpeechAccount } from './account.ts';
import { EventFrame, sseEvent } from './event-frame.ts';
import type { SpeechTask } from './read-speech-request.ts';

const mediaTypes: Readonly<Record<SpeechFormat, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm;rate=24000;channels=1',
};

interface Speaking {
  readonly exchange: Pick<Exchange, 'backpressure'>;
  readonly task: SpeechTask;
  readonly account: SpeechAccount;
}

export const frameSpeech: Transform<Buffer, Reply, Speaking> = transform((next, speaking) => {
  const { sse, streams } = speaking.task;
  if (sse) return streams ? new DeltaEvents(next, speaking) : new FileEvent(next, speaking);
  return streams ? new Samples(next) : new SpeechFile(next, speaking);
});

// ── plain sound ────────────────────────────────────────────────────────────────────────────────────

const samplesHead: Head = { kind: 'head', status: 200, headers: { 'content-type': mediaTypes.pcm } };

/** A failure in the middle cuts the connection: samples leave no place for an error. */
class Samples extends Forwarder<Buffer, Reply> {
  #started = false;

  next(bytes: Buffer): void {
    this.#start();
    this.receiver.next({ kind: 'bytes', bytes });
  }

  override complete(): void {
    this.#start();
    this.receiver.complete();
  }

  #start(): void {
    if (!this.#started) this.receiver.next(samplesHead);
    this.#started = true;
  }
}

class SpeechFile extends Forwarder<Buffer, Reply> {
  readonly #speaking: Speaking;
  readonly #pieces: Buffer[] = [];

  constructor(receiver: Observer<Reply>, speaking: Speaking) {
    super(receiver);
    this.#speaking = speaking;
  }

  next(piece: Buffer): void {
    this.#pieces.push(piece);
  }

  override complete(): void {
    const { task, account } = this.#speaking;
    this.receiver.next({
      kind: 'whole',
      status: 200,
      headers: {
        'content-type': mediaTypes[task.format],
        'x-usage-seconds': String(account.seconds),
        'x-usage-cost': secondsCost(account.seconds, task.model.pricing),
      },
      body: Buffer.concat(this.#pieces),
    });
    this.receiver.complete();
  }
}

// ── events ─────────────────────────────────────────────────────────────────────────────────────────

const deltaStart = 'event: speech.audio.delta\ndata: {"type":"speech.audio.delta","audio":"';
const deltaEnd = '"}\n\n';

abstract class SpeechEvents extends EventFrame<Buffer> {
  protected readonly failure = 'speech.audio.error';
  protected readonly speaking: Speaking;

  constructor(receiver: Observer<Reply>, speaking: Speaking) {
    super(receiver);
    this.speaking = speaking;
  }

  protected doneEvent(): string {
    const { task, account } = this.speaking;
    const read = estimatePiece(task.call.input.length);
    return sseEvent({
      type: 'speech.audio.done',
      usage: {
        input_tokens: read,
        output_tokens: 0,
        total_tokens: read,
        seconds: account.seconds,
        cost: Number(secondsCost(account.seconds, task.model.pricing)),
      },
    });
  }
}

/** An event for every piece of samples. */
class DeltaEvents extends SpeechEvents {
  next(samples: Buffer): void {
    this.send(deltaStart + samples.toString('base64') + deltaEnd);
  }

  override complete(): void {
    this.send(this.doneEvent());
    this.receiver.complete();
  }
}

/** A whole file in one event: its base64 is made while it is sent. */
class FileEvent extends SpeechEvents {
  readonly #pieces: Buffer[] = [];
  #paced: PacedBytes | undefined;

  next(piece: Buffer): void {
    this.#pieces.push(piece);
  }

  override complete(): void {
    const events = fileEvents(Buffer.concat(this.#pieces), this.doneEvent());
    this.start();
    this.#paced = new PacedBytes(events, this.speaking.exchange.backpressure, this.receiver);
    this.#paced.start();
  }

  onTeardown(): void {
    this.#paced?.stop();
  }
}

/** A multiple of three, so that the pieces of base64 make one. */
const slice = 48 * 1024;

function* fileEvents(file: Buffer, done: string): Generator<string> {
  yield deltaStart;
  for (let at = 0; at < file.length; at += slice) yield file.toString('base64', at, at + slice);
  yield deltaEnd + done;
}
