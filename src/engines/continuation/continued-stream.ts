/** Emits the parts of a stream; where its replica breaks it off, those that another replica has for the rest. */
import type { Logger } from 'pino';
import type { Observer, Subscriber, Subscription, Unsubscribable } from 'rxjs';
import type { ApiError } from '../../errors.ts';
import type { ChatCall, Parts } from '../../ports/engines/chat.ts';
import type { CompletionCall } from '../../ports/engines/completion.ts';
import { EngineError } from '../engine-error.ts';
import type { ReplicaPool } from '../pool/pool.ts';
import type { PooledCall } from '../pool/pooled-call.ts';
import type { RestOfAnswer, StreamDecoder } from '../wire.ts';
import { type Answered, AnswerSoFar, type Rest } from './answer-so-far.ts';

/** A call to one replica, and to others until it is answered. */
interface Attempt extends Unsubscribable {
  readonly running: PooledCall | undefined;
  /** Undefined until a streamed response begins. */
  readonly stream: StreamDecoder | undefined;
}

/** The call for the rest of an answer, and the one that broke off with `error`. */
export interface RestCall extends RestOfAnswer {
  readonly broken: PooledCall;
  readonly error: EngineError;
}

interface Setting<Call> extends Answered<Call> {
  readonly pool: ReplicaPool;
  readonly log: Logger;
  /** One of several answers. */
  readonly single: boolean;
  /** Throws where no replica takes the first call; emits as an engine does. */
  readonly start: (observer: Observer<Parts>, rest?: RestCall) => Attempt;
}

export class ContinuedStream<Call extends ChatCall | CompletionCall> implements Unsubscribable {
  readonly #setting: Setting<Call>;
  readonly #subscriber: Subscriber<Parts>;
  /** Undefined where the rest would not be right. */
  readonly #answer: AnswerSoFar<Call> | undefined;
  #attempt: Attempt | undefined;
  #counting: Subscription | undefined;
  #emitted = false;

  constructor(setting: Setting<Call>, subscriber: Subscriber<Parts>) {
    const { wire, call, single } = setting;
    this.#setting = setting;
    this.#subscriber = subscriber;
    this.#answer = !single && wire.allows(call) ? new AnswerSoFar(setting) : undefined;
  }

  start(rest?: RestCall): void {
    let isGoingOn = false;
    let isNew = rest !== undefined;
    this.#attempt = this.#setting.start(
      {
        next: (parts) => {
          const last = parts[parts.length - 1];
          if (last?.type === 'failure') isGoingOn = this.#failed(last.error, rest);
          else {
            if (isNew) this.#continued(rest?.error);
            isNew = false;
            this.#emit(parts);
          }
        },
        error: (error: ApiError) => {
          this.#failed(error, rest);
        },
        complete: () => {
          if (!isGoingOn) this.#subscriber.complete();
        },
      },
      rest,
    );
  }

  unsubscribe(): void {
    this.#counting?.unsubscribe();
    this.#attempt?.unsubscribe();
  }

  #emit(read: Parts): void {
    const parts = this.#answer?.pass(read) ?? read;
    if (parts.length > 0) {
      this.#emitted = true;
      this.#subscriber.next(parts);
    }
    if (this.#answer?.stopped === true) this.#subscriber.complete();
  }

  /** True: the stream goes on. `rest`: what failed was a call for the rest of it. */
  #failed(error: ApiError, rest: RestCall | undefined): boolean {
    const { running, stream } = this.#attempt ?? {};
    const answer = this.#answer;
    const isBroken = error instanceof EngineError && error.brokenOff && stream !== undefined;
    if (isBroken && answer?.isPossible === true && running?.mayContinue === true) {
      running.close();
      this.#counting = answer.rest(stream).subscribe((next) => this.#callForRest(next, running, error));
      return true;
    }
    if (isBroken || rest !== undefined) this.#notContinued(error);
    // What another replica has against the call for the rest means nothing to the client.
    this.#end(isBroken ? error : (rest?.error ?? error));
    return false;
  }

  #callForRest(rest: Rest, broken: PooledCall, error: EngineError): void {
    if (rest === 'spent') {
      this.#emit([{ type: 'finish', choice: 0, reason: 'length', native: null }]);
      this.#subscriber.complete();
    } else if (rest === undefined || !broken.takeRetry()) {
      this.#notContinued(error);
      this.#end(error);
    } else this.start({ ...rest, broken, error });
  }

  #end(error: ApiError): void {
    if (this.#emitted) {
      this.#subscriber.next([{ type: 'failure', error }]);
      this.#subscriber.complete();
    } else this.#subscriber.error(error);
  }

  #continued(error: EngineError | undefined): void {
    const { pool, log, model, flow } = this.#setting;
    pool.continuations.made++;
    if (flow.served !== undefined) flow.served.continuations++;
    const replica = this.#attempt?.running?.replicaUrl;
    const err = error?.cause ?? error;
    log.warn({ request_id: flow.requestId, model: model.id, replica, err }, 'stream continued');
  }

  #notContinued(error: ApiError): void {
    const { pool, log, model, flow } = this.#setting;
    pool.continuations.failed++;
    const err = error.cause ?? error;
    log.warn({ request_id: flow.requestId, model: model.id, err }, 'stream not continued');
  }
}
