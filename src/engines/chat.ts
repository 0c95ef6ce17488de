/** Makes chat and completion calls to an engine and emits the parts of its responses. */
import type { Logger } from 'pino';
import { Observable, type Subscriber, type Subscription, type Unsubscribable } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { EngineRow } from '../../schemas/engines.ts';
import { type ApiError, asApiError, contextFull, fail } from '../errors.ts';
import { JoinedBytes } from '../joined-bytes.ts';
import type { ChatCall, Parts } from '../ports/chat.ts';
import type { CompletionCall } from '../ports/completion.ts';
import type { Engine, Flow } from '../ports/engine.ts';
import { estimatePrompt } from '../tokens/prompt.ts';
import { Continuation, type Rest } from './continuation/continuation.ts';
import { withoutContinued } from './continued-prefix.ts';
import { EngineError } from './engine-error.ts';
import { chatSingles, completionSingles, fanOut, type Single } from './fan-out.ts';
import type { EngineHead, EngineReader, ReadError } from './http-call.ts';
import type { EngineRequest } from './pool/dispatch.ts';
import type { ReplicaPool } from './pool/pool.ts';
import type { PooledCall } from './pool/pooled-call.ts';
import type { PartsWire, StreamDecoder, WireRequest } from './wire.ts';

type PartsCall = ChatCall | CompletionCall;

/** What all such calls to one engine have in common. */
interface PartsSetting<Call> {
  readonly wire: PartsWire<Call>;
  readonly pool: ReplicaPool;
  readonly row: EngineRow;
  readonly headers: readonly string[];
  readonly readError: ReadError;
  readonly log: Logger;
}

export const chatOverHttp = (setting: PartsSetting<ChatCall>): NonNullable<Engine['chat']> =>
  partsOverHttp(setting, chatSingles);

export const completeOverHttp = (setting: PartsSetting<CompletionCall>): NonNullable<Engine['complete']> =>
  partsOverHttp(setting, completionSingles);

/** `singlesOf` splits a call for engines that give one answer to each. */
const partsOverHttp = <Call extends PartsCall>(
  setting: PartsSetting<Call>,
  singlesOf: (call: Call) => readonly Single<Call>[],
) => {
  const { continuation } = setting.wire;
  const wire = setting.row.continues === true ? continuation : undefined;
  const send = (model: Model, call: Call, flow: Flow, alone = true): Observable<Parts> =>
    new Observable((subscriber) => {
      const continues = wire !== undefined && alone && call.stream && wire.allows(call);
      const kept = continues ? new Continuation({ wire, row: setting.row, model, call, flow }) : undefined;
      const reader = new PartsReader(setting, model, call, flow, subscriber, kept);
      reader.start();
      return reader;
    });
  if (setting.row.fan_out_n !== true && setting.wire.oneAnswer !== true) return send;
  return (model: Model, call: Call, flow: Flow): Observable<Parts> => {
    const singles = singlesOf(call);
    return singles.length > 1
      ? fanOut(singles, flow, (single, itsFlow) => send(model, single, itsFlow, false))
      : send(model, call, flow);
  };
};

const WHOLE_LIMIT = 32 * 1024 * 1024;

/**
 * Errors while nothing was emitted, and emits a last `failure` part afterwards. Unsubscribing closes its call. A stream that
 * its replica breaks off goes on as the rest of it comes from another, where there is a continuation.
 */
class PartsReader<Call extends PartsCall> implements EngineReader, Unsubscribable {
  readonly #setting: PartsSetting<Call>;
  readonly #model: Model;
  readonly #call: Call;
  readonly #flow: Flow;
  readonly #subscriber: Subscriber<Parts>;
  #running: PooledCall | undefined;
  #head: EngineHead | undefined;
  #stream: StreamDecoder | undefined;
  /** Of a whole response; created by the second read of it. */
  #body: JoinedBytes | undefined;
  #only: Buffer | undefined;
  #emitted = false;
  /** Undefined where none is possible, or was. */
  #continuation: Continuation<Call> | undefined;
  /** Why the rest is needed, until it comes, and what decodes it. */
  #broken: EngineError | undefined;
  #rest: StreamDecoder | undefined;
  #counting: Subscription | undefined;

  constructor(
    setting: PartsSetting<Call>,
    model: Model,
    call: Call,
    flow: Flow,
    subscriber: Subscriber<Parts>,
    continuation: Continuation<Call> | undefined,
  ) {
    this.#setting = setting;
    this.#model = model;
    this.#call = call;
    this.#flow = flow;
    this.#subscriber = subscriber;
    this.#continuation = continuation;
  }

  /** Throws when no replica can take the call. */
  start(): void {
    const { wire, pool, row } = this.#setting;
    this.#running = pool.send(
      this.#engineRequest(wire.encode(this.#model, this.#call, row)),
      this.#flow,
      this,
    );
  }

  #engineRequest({ path, body }: WireRequest): EngineRequest {
    const { headers, readError } = this.#setting;
    return {
      method: 'POST',
      path,
      headers,
      body,
      model: this.#model.served_as,
      prompt: this.#call,
      streams: this.#call.stream,
      readError,
    };
  }

  unsubscribe(): void {
    this.#counting?.unsubscribe();
    this.#running?.close();
  }

  head(head: EngineHead): void {
    this.#head = head;
    // Some servers send a whole response although a stream was requested, above all to report an error.
    const whole = !this.#call.stream || head.contentType.startsWith('application/json');
    if (this.#broken !== undefined) this.#continue(this.#broken, whole);
    else if (!whole) this.#stream = this.#setting.wire.decodeStream(this.#model, this.#call);
  }

  bytes(bytes: Buffer, last: boolean): void {
    if (this.#stream === undefined) this.#collect(bytes, last);
    else this.#read(this.#stream, bytes);
  }

  end(): void {
    if (this.#stream === undefined) this.#decodeBody();
    else this.#endStream(this.#stream, undefined);
  }

  error(error: ApiError): void {
    if (this.#broken !== undefined) this.#giveUp(this.#broken, error);
    else if (this.#stream === undefined) this.#fail(error);
    else this.#endStream(this.#stream, error);
  }

  #read(stream: StreamDecoder, bytes: Buffer): void {
    let parts: Parts;
    try {
      parts = stream.push(bytes);
    } catch (thrown) {
      this.#fail(asApiError(thrown));
      return;
    }
    this.#emit(parts);
    if (this.#continuation?.stopped === true) this.#subscriber.complete();
    else if (stream.failure !== undefined) this.#fail(stream.failure);
    else if (stream.done) {
      this.#head?.settle();
      this.#subscriber.complete();
    }
  }

  /** A connection may break after the last event; before that its own error says more than a missing end. */
  #endStream(stream: StreamDecoder, broken: ApiError | undefined): void {
    let parts: Parts;
    try {
      parts = stream.end();
    } catch (thrown) {
      this.#fail(broken ?? asApiError(thrown));
      return;
    }
    this.#emit(parts);
    if (stream.failure !== undefined && this.#continuation?.stopped !== true)
      this.#fail(broken ?? stream.failure);
    else this.#subscriber.complete();
  }

  #collect(bytes: Buffer, last: boolean): void {
    if (last && this.#body === undefined) {
      // Most come in one read, which is decoded before the next.
      this.#only = bytes;
      return;
    }
    this.#body ??= new JoinedBytes();
    this.#body.add(bytes);
    if (this.#body.length <= WHOLE_LIMIT) return;
    this.#body = undefined;
    this.#fail(fail('engine_unreachable', 'The engine sent too long an answer'));
  }

  #decodeBody(): void {
    const call: PartsCall = this.#call;
    try {
      const parts = this.#setting.wire.decodeWhole(
        this.#model,
        this.#call,
        this.#only ?? this.#body?.take() ?? nothing,
      );
      const continues = 'continueFinal' in call && call.continueFinal;
      this.#emit(continues ? withoutContinued(this.#model, call, parts) : parts);
    } catch (thrown) {
      this.#fail(asApiError(thrown));
      return;
    }
    this.#subscriber.complete();
  }

  #emit(read: Parts): void {
    const parts = this.#continuation?.pass(read) ?? read;
    if (parts.length === 0) return;
    this.#emitted = true;
    this.#subscriber.next(parts);
  }

  #fail(thrown: ApiError): void {
    const error = this.#contextFull(thrown) ?? thrown;
    if (error instanceof EngineError && error.brokenOff && this.#goOn(error)) return;
    this.#end(error);
  }

  #end(error: ApiError): void {
    if (this.#emitted) {
      this.#subscriber.next([{ type: 'failure', error }]);
      this.#subscriber.complete();
    } else this.#subscriber.error(error);
  }

  /** False where it ends with the error. */
  #goOn(error: EngineError): boolean {
    const [stream, running, continuation] = [this.#stream, this.#running, this.#continuation];
    if (this.#setting.row.continues !== true || stream === undefined) return false;
    if (continuation?.isPossible !== true || running?.mayContinue !== true) {
      this.#notContinued(error);
      return false;
    }
    running.close();
    this.#broken = error;
    this.#stream = undefined;
    this.#counting = continuation.rest(stream).subscribe((rest) => this.#callForRest(rest, running, error));
    return true;
  }

  #callForRest(rest: Rest, broken: PooledCall, error: EngineError): void {
    if (rest === 'spent') {
      this.#emit([{ type: 'finish', choice: 0, reason: 'length', native: null }]);
      this.#subscriber.complete();
      return;
    }
    const call = rest && broken.continueBy(this.#engineRequest(rest.request), this, error);
    if (call === undefined) {
      this.#giveUp(error);
      return;
    }
    this.#running = call;
    this.#rest = rest?.stream;
  }

  /** Another replica has the rest, unless it sends something else. */
  #continue(error: EngineError, whole: boolean): void {
    if (whole) {
      this.#giveUp(error);
      return;
    }
    this.#broken = undefined;
    this.#stream = this.#rest;
    this.#rest = undefined;
    const { pool, log } = this.#setting;
    const { requestId, served } = this.#flow;
    pool.continuations.made++;
    if (served !== undefined) served.continuations++;
    log.warn(
      {
        request_id: requestId,
        model: this.#model.id,
        replica: this.#running?.replicaUrl,
        err: error.cause ?? error,
      },
      'stream continued',
    );
  }

  #giveUp(error: EngineError, refusal?: ApiError): void {
    this.#broken = undefined;
    this.#notContinued(error, refusal);
    this.#end(error);
  }

  #notContinued(error: EngineError, refusal?: ApiError): void {
    const { pool, log } = this.#setting;
    pool.continuations.failed++;
    const err = refusal ?? error;
    log.warn({ request_id: this.#flow.requestId, err: err.cause ?? err }, 'stream not continued');
  }

  /** In the words that clients know; undefined where the error is about something else. */
  #contextFull(error: ApiError): ApiError | undefined {
    const full = this.#setting.wire.readContextFull?.(error.message);
    const window = full?.window ?? this.#model.context_length;
    if (full === undefined || window === undefined) return undefined;
    const prompt = full.prompt ?? Math.max(estimatePrompt(this.#call), window);
    const maximum = full.maximum ?? (prompt < window ? window - this.#call.maxTokens : window - 1);
    // No prompt fits beside such a completion limit: that is what the client has to change.
    if (maximum < 1) return undefined;
    return contextFull({ prompt, maximum, window }, 'the prompt', { cause: error, param: null });
  }
}

const nothing = Buffer.alloc(0);
