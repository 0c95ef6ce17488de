/** Makes chat and completion calls to an engine and emits the parts of its responses. */
import type { Logger } from 'pino';
import { Observable, type Observer, type Unsubscribable } from 'rxjs';
import type { Model } from '../../../schemas/catalog.ts';
import type { EngineRow } from '../../../schemas/engines.ts';
import { type ApiError, asApiError, contextFull, fail } from '../../errors.ts';
import { JoinedBytes } from '../../helpers/joined-bytes.ts';
import type { ChatCall, Parts } from '../../ports/engines/chat.ts';
import type { CompletionCall } from '../../ports/engines/completion.ts';
import type { Engine, Flow } from '../../ports/engines/engine.ts';
import { estimatePrompt } from '../../tokens/prompt.ts';
import { ContinuedStream, type RestCall } from '../continuation/continued-stream.ts';
import type { EngineHead, EngineReader, ReadError } from '../engine-call.ts';
import type { ReplicaPool } from '../pool/pool.ts';
import type { PooledCall } from '../pool/pooled-call.ts';
import type { PartsWire, StreamDecoder } from '../wire.ts';
import { withoutContinued } from './continued-prefix.ts';
import { chatSingles, completionSingles, fanOut, type Single } from './fan-out.ts';

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
  /** `single`: one of several answers, none of which is continued. */
  const send = (model: Model, call: Call, flow: Flow, single = false): Observable<Parts> =>
    new Observable((subscriber) => {
      if (wire === undefined || !call.stream)
        return new PartsReader(setting, model, call, flow, subscriber).start();
      const start = (observer: Observer<Parts>, rest?: RestCall) =>
        new PartsReader(setting, model, call, flow, observer).start(rest);
      const stream = new ContinuedStream({ ...setting, wire, model, call, flow, single, start }, subscriber);
      stream.start();
      return stream;
    });
  if (setting.row.fan_out_n !== true && setting.wire.oneAnswer !== true) return send;
  return (model: Model, call: Call, flow: Flow): Observable<Parts> => {
    const singles = singlesOf(call);
    return singles.length > 1
      ? fanOut(singles, flow, (single, itsFlow) => send(model, single, itsFlow, true))
      : send(model, call, flow);
  };
};

const WHOLE_LIMIT = 32 * 1024 * 1024;

/** Errors while nothing was emitted, and emits a last `failure` part afterwards. Unsubscribing closes its call. */
class PartsReader<Call extends PartsCall> implements EngineReader, Unsubscribable {
  readonly #setting: PartsSetting<Call>;
  readonly #model: Model;
  readonly #call: Call;
  readonly #flow: Flow;
  readonly #subscriber: Observer<Parts>;
  #running: PooledCall | undefined;
  #head: EngineHead | undefined;
  #stream: StreamDecoder | undefined;
  /** Decodes what comes, where that is the rest of an answer. */
  #rest: StreamDecoder | undefined;
  /** Of a whole response; created by the second read of it. */
  #body: JoinedBytes | undefined;
  #only: Buffer | undefined;
  #emitted = false;

  constructor(
    setting: PartsSetting<Call>,
    model: Model,
    call: Call,
    flow: Flow,
    subscriber: Observer<Parts>,
  ) {
    this.#setting = setting;
    this.#model = model;
    this.#call = call;
    this.#flow = flow;
    this.#subscriber = subscriber;
  }

  /** Throws when no replica can take the call; for the rest of an answer it is left to another one. */
  start(rest?: RestCall): this {
    const { wire, pool, row, headers, readError } = this.#setting;
    const { path, body } = rest?.request ?? wire.encode(this.#model, this.#call, row);
    const request = {
      method: 'POST',
      path,
      headers,
      body,
      model: this.#model.served_as,
      prompt: this.#call,
      streams: this.#call.stream,
      readError,
    } as const;
    this.#rest = rest?.stream;
    this.#running =
      rest === undefined
        ? pool.send(request, this.#flow, this)
        : rest.broken.continueBy(request, this, rest.error);
    return this;
  }

  unsubscribe(): void {
    this.#running?.close();
  }

  get running(): PooledCall | undefined {
    return this.#running;
  }

  /** Undefined until a streamed response begins. */
  get stream(): StreamDecoder | undefined {
    return this.#stream;
  }

  head(head: EngineHead): void {
    this.#head = head;
    // Some servers send a whole response although a stream was requested, above all to report an error.
    const whole = !this.#call.stream || head.contentType.startsWith('application/json');
    if (!whole) this.#stream = this.#rest ?? this.#setting.wire.decodeStream(this.#model, this.#call);
    else if (this.#rest !== undefined) this.#fail(fail('engine_unreachable', 'The engine sent no stream'));
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
    if (this.#stream === undefined) this.#fail(error);
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
    if (stream.failure !== undefined) this.#fail(stream.failure);
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
    if (stream.failure !== undefined) this.#fail(broken ?? stream.failure);
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

  #emit(parts: Parts): void {
    if (parts.length === 0) return;
    this.#emitted = true;
    this.#subscriber.next(parts);
  }

  #fail(thrown: ApiError): void {
    const error = this.#contextFull(thrown) ?? thrown;
    if (this.#emitted) {
      this.#subscriber.next([{ type: 'failure', error }]);
      this.#subscriber.complete();
    } else this.#subscriber.error(error);
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
