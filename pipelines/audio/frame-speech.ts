/** Frames speech as one file, as samples while they are generated, or as events that carry either. */
import type { Observer } from 'rxjs';
import type { SpeechFormat } from '../../schemas/speech.ts';
import { secondsCost } from '../../src/billing/cost.ts';
import type { Head, Reply, WholeReply } from '../../src/ports/exchange.ts';
import { estimatePiece } from '../../src/tokens/prompt.ts';
import { eventStreamHead } from '../core/frame.ts';
import type { FramedReply, PacedReply } from '../core/paced-bytes.ts';
import { Forwarder, type Transform, transform } from '../core/stage.ts';
import { gather } from '../core/transforms.ts';
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
  readonly task: SpeechTask;
  readonly account: SpeechAccount;
}

export const frameSpeech: Transform<Buffer, FramedReply, Speaking> = transform((next, speaking) => {
  const { sse, streams } = speaking.task;
  if (!streams) return frameFile.open(next, speaking);
  return sse ? new DeltaEvents(next, speaking) : new Samples(next);
});

const frameFile = gather((chunks: readonly Buffer[], speaking: Speaking): FramedReply => {
  const file = Buffer.concat(chunks);
  return speaking.task.sse ? fileEvent(speaking, file) : fileReply(speaking, file);
});

const fileReply = ({ task, account }: Speaking, file: Buffer): WholeReply => ({
  kind: 'whole',
  status: 200,
  headers: {
    'content-type': mediaTypes[task.format],
    'x-usage-seconds': String(account.seconds),
    'x-usage-cost': secondsCost(account.seconds, task.model.pricing),
  },
  body: file,
});

/** A whole file in one event: its base64 is made while it is sent. */
const fileEvent = (speaking: Speaking, file: Buffer): PacedReply => ({
  kind: 'paced',
  head: eventStreamHead,
  chunks: fileEventChunks(file, doneEvent(speaking)),
});

/** A multiple of three, so that the chunks of base64 can be joined. */
const slice = 48 * 1024;

function* fileEventChunks(file: Buffer, done: string): Generator<string> {
  yield deltaStart;
  for (let at = 0; at < file.length; at += slice) yield file.toString('base64', at, at + slice);
  yield deltaEnd + done;
}

const samplesHead: Head = { kind: 'head', status: 200, headers: { 'content-type': mediaTypes.pcm } };

/** A failure in the middle cuts the connection: raw samples cannot carry an error. */
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

const deltaStart = 'event: speech.audio.delta\ndata: {"type":"speech.audio.delta","audio":"';
const deltaEnd = '"}\n\n';

/** An event for every chunk of samples. */
class DeltaEvents extends EventFrame<Buffer> {
  protected readonly failure = 'speech.audio.error';
  readonly #speaking: Speaking;

  constructor(receiver: Observer<Reply>, speaking: Speaking) {
    super(receiver);
    this.#speaking = speaking;
  }

  next(samples: Buffer): void {
    this.send(deltaStart + samples.toString('base64') + deltaEnd);
  }

  override complete(): void {
    this.end(doneEvent(this.#speaking));
  }
}

const doneEvent = ({ task: { call, model }, account: { seconds } }: Speaking): string => {
  const read = estimatePiece(call.input.length);
  return sseEvent({
    type: 'speech.audio.done',
    usage: {
      input_tokens: read,
      output_tokens: 0,
      total_tokens: read,
      seconds,
      cost: Number(secondsCost(seconds, model.pricing)),
    },
  });
};
