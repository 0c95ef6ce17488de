/** Metered parts in; one response object out when they have all come. A failure part becomes the error answer. */
import type { Observer } from 'rxjs';
import type { FinishReason, Parts } from '../../src/ports/chat.ts';
import { jsonTextAnswer, type Reply } from '../../src/ports/exchange.ts';
import type { Stage } from './relay.ts';
import { endedResponse, incompleteReason, type ResponseForm } from './responses-answer.ts';
import { Output, type Piece } from './responses-output.ts';

export const frameResponsesWhole = (receiver: Observer<Reply>, form: ResponseForm): Stage<Parts> => {
  const output = new Output(form);
  let finish: FinishReason = 'stop';
  return {
    next: (parts) => {
      for (const part of parts) {
        switch (part.type) {
          case 'finish':
            finish = part.reason;
            break;
          case 'usage': {
            const reason = incompleteReason(finish);
            output.end(reason === undefined ? 'completed' : 'incomplete');
            receiver.next(jsonTextAnswer(endedResponse(form, output.json(), reason, part.usage)));
            receiver.complete();
            break;
          }
          case 'failure':
            receiver.error(part.error);
            break;
          default:
            add(output, part);
        }
      }
    },
    error: (error) => receiver.error(error),
    complete: () => receiver.complete(),
  };
};

const add = (output: Output, piece: Piece): void => {
  if (output.begins(piece)) {
    output.end('completed');
    output.begin(piece);
  }
  output.grow(piece);
};
