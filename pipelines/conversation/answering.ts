/** How the engine is called and the stages that its answer passes in; what is done with an admitted task out. */
import type { Observable } from 'rxjs';
import type { Lease } from '../../src/ports/admission.ts';
import type { Parts } from '../../src/ports/chat.ts';
import type { Exchange, KeyedRequest, Reply } from '../../src/ports/exchange.ts';
import { type NewStage, relay } from '../core/relay.ts';
import type { Metered } from '../core/usage-event.ts';
import type { ChatTask } from './chat-task.ts';

/** An admitted request as the stages of its answer see it. */
export interface Answering<Framing> extends Metered<ChatTask<Framing>> {
  readonly exchange: Exchange;
}

export type PartsStage = NewStage<Answering<unknown>, Parts, Parts>;
export type FrameStage<Framing> = NewStage<Answering<Framing>, Parts, Reply>;

/** `route` is the path below `/v1`. */
export const answering = <Framing>(
  route: string,
  call: (request: Answering<Framing>) => Observable<Parts>,
  ...stages: [...PartsStage[], FrameStage<Framing>]
): ((task: ChatTask<Framing>, lease: Lease, request: KeyedRequest) => Observable<Reply>) => {
  const answer = relay(call, ...stages);
  return (task, lease, { exchange, caller }) => answer({ exchange, caller, route, task, lease });
};
