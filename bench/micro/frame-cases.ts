/** The way out: parts → bytes. */
import { type Observer, of, Subject } from 'rxjs';
import type { Completion } from '../../pipelines/chat/completion-json.ts';
import { frameChatStream } from '../../pipelines/chat/frame-stream.ts';
import { frameChatWhole } from '../../pipelines/chat/frame-whole.ts';
import { orderParts } from '../../pipelines/conversation/order-parts.ts';
import { relay } from '../../pipelines/core/relay.ts';
import { frameMessagesStream } from '../../pipelines/messages/frame-stream.ts';
import type { Parts } from '../../src/ports/chat.ts';
import type { Reply } from '../../src/ports/exchange.ts';
import type { MicroCase } from './run.ts';
import { model, tokenParts, wholeParts } from './samples.ts';

const completion: Completion = {
  id: 'chatcmpl-0123456789abcdef012345671',
  created: 1_760_000_000,
  model: model.id,
  choices: 1,
  logprobs: false,
  includeUsage: false,
};
let reply: Reply | undefined;
const keep = (next: Reply): void => {
  reply = next;
};
const stream = new Subject<Parts>();
relay(
  () => stream,
  (next: Observer<Reply>) => frameChatStream(next, completion),
)(undefined).subscribe(keep);
const messageStream = new Subject<Parts>();
relay(
  () => messageStream,
  orderParts,
  (next: Observer<Reply>) =>
    frameMessagesStream(
      next,
      {
        id: 'msg_0123',
        model: model.id,
        stop: [],
        hidesThinking: false,
        signer: () => ({ add: () => {}, end: () => '' }),
      },
      100,
    ),
)(undefined).subscribe(keep);
const whole = relay(
  () => of(wholeParts),
  (next: Observer<Reply>) => frameChatWhole(next, completion),
);

export const frameCases: readonly MicroCase[] = [
  {
    name: 'frame: one token of a stream',
    run: () => {
      stream.next(tokenParts);
      return reply;
    },
  },
  {
    name: 'frame: one token of a messages stream, ordered first',
    run: () => {
      messageStream.next(tokenParts);
      return reply;
    },
  },
  {
    name: 'frame: a whole answer',
    run: () => {
      whole(undefined).subscribe(keep);
      return reply;
    },
  },
];
