/** Micro-benchmarks of framing: parts to bytes. */
import { type Observer, type OperatorFunction, of, Subject } from 'rxjs';
import type { Completion } from '../../pipelines/chat/completion-json.ts';
import { ChatWhole } from '../../pipelines/chat/frame.ts';
import { ChatChunks } from '../../pipelines/chat/frame-stream.ts';
import { StreamFrame } from '../../pipelines/conversation/frame-stream.ts';
import { orderParts } from '../../pipelines/conversation/order-parts.ts';
import type { SettledParts } from '../../pipelines/conversation/settle.ts';
import { compose } from '../../pipelines/core/compose.ts';
import { eventStreamHead } from '../../pipelines/core/frame.ts';
import { lift, transform } from '../../pipelines/core/stage.ts';
import { MessageEvents, messagesStreamHead } from '../../pipelines/messages/frame-stream.ts';
import type { Reply } from '../../src/ports/exchange.ts';
import type { MicroCase } from './run.ts';
import { exchangeOf, model, requestBody, tokenParts, wholeParts } from './samples.ts';

const completion: Completion = {
  id: 'chatcmpl-0123456789abcdef012345671',
  created: 1_760_000_000,
  model: model.id,
  provider: '"Sluice"',
  choices: 1,
  logprobs: false,
  includeUsage: false,
};
let reply: Reply | undefined;
const keep = (next: Reply): void => {
  reply = next;
};
const context = { exchange: exchangeOf(requestBody(true)) };
const chatStream = transform(
  (next: Observer<Reply>) => new StreamFrame(next, eventStreamHead, new ChatChunks(completion)),
);
const stream = new Subject<SettledParts>();
stream.pipe(lift(chatStream, context)).subscribe(keep);

const form = {
  id: 'msg_0123',
  model: model.id,
  stop: [],
  hidesThinking: false,
  thinker: model,
  signer: { begin: () => ({ add: () => {}, end: () => '' }), seal: () => '', unseal: () => undefined },
};
const messages = transform(
  (next: Observer<Reply>) => new StreamFrame(next, messagesStreamHead, new MessageEvents(form, 100)),
);
const messageStream = new Subject<SettledParts>();
messageStream
  .pipe(lift(orderParts, context) as OperatorFunction<SettledParts, SettledParts>, lift(messages, context))
  .subscribe(keep);

const chatWhole = transform((next: Observer<Reply>) => new ChatWhole(next, completion));
const whole = compose((parts: SettledParts) => of(parts), chatWhole);

export const frameCases: readonly MicroCase[] = [
  {
    name: 'frame: one token of a stream',
    run: () => {
      stream.next(tokenParts as SettledParts);
      return reply;
    },
  },
  {
    name: 'frame: one token of a messages stream, ordered first',
    run: () => {
      messageStream.next(tokenParts as SettledParts);
      return reply;
    },
  },
  {
    name: 'frame: a non-streamed response',
    run: () => {
      whole(wholeParts as SettledParts, context).subscribe(keep);
      return reply;
    },
  },
];
