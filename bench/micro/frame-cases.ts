/** The way out: parts → bytes. */
import { of, Subject } from 'rxjs';
import type { Completion } from '../../pipelines/stages/chat-completion.ts';
import { frameChatStream } from '../../pipelines/stages/frame-chat-stream.ts';
import { frameChatWhole } from '../../pipelines/stages/frame-chat-whole.ts';
import { frameMessagesStream } from '../../pipelines/stages/frame-messages-stream.ts';
import { orderParts } from '../../pipelines/stages/order-parts.ts';
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
stream.pipe(frameChatStream(completion)).subscribe(keep);
const messageStream = new Subject<Parts>();
messageStream
  .pipe(
    orderParts(),
    frameMessagesStream(
      {
        id: 'msg_0123',
        model: model.id,
        stop: [],
        hidesThinking: false,
        signer: () => ({ add: () => {}, end: () => '' }),
      },
      100,
    ),
  )
  .subscribe(keep);

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
      of(wholeParts).pipe(frameChatWhole(completion)).subscribe(keep);
      return reply;
    },
  },
];
