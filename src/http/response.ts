/** Observes the replies of one request's pipeline until they are sent, cut, timed out or drained. */
import type { Observer, Subscription } from 'rxjs';
import { type ApiError, asApiError, errorJson, fail } from '../errors.ts';
import { unindexed } from '../helpers/indexed-list.ts';
import { clientClosedRequest } from '../metrics/route-stats.ts';
import type { Reply, WholeReply } from '../ports/exchange.ts';
import type { LiveRequest } from '../ports/live.ts';
import type { CutReason, OpenResponse } from './edge-core.ts';
import { liveRequest } from './live-request.ts';
import { ReplyWriter } from './reply-writer.ts';
import { logEnd, logFailure } from './response-log.ts';
import type { ChannelOwner } from './servers/channel.ts';

/** None of these methods throws: an error that reaches RxJS or the server's library ends the process. */
export class Response extends ReplyWriter implements Observer<Reply>, ChannelOwner, OpenResponse {
  slot = unindexed;
  /** Undefined until `subscribe` has returned, which replies may precede. */
  #subscription: Subscription | undefined;
  /** Nothing more of the pipeline is wanted. */
  #detached = false;

  attach(subscription: Subscription): void {
    this.#subscription = subscription;
    if (this.#detached) this.#unsubscribe();
  }

  get bufferedReply(): number {
    return this.phase === 'over' ? 0 : this.exchange.channel.buffered;
  }

  get bufferedBody(): number {
    return this.exchange.upload?.buffered ?? 0;
  }

  // ── from the pipeline ────────────────────────────────────────────────────────────────────────────

  next(reply: Reply): void {
    const { phase } = this;
    if (this.#detached || phase === 'ended' || phase === 'over') return;
    try {
      this.write(reply);
    } catch (thrown) {
      this.failed(thrown);
    }
  }

  complete(): void {
    try {
      this.end();
    } catch (thrown) {
      this.failed(thrown);
    }
    this.detach();
  }

  error(thrown: unknown): void {
    try {
      const error = asApiError(thrown);
      const { phase } = this;
      logFailure(this.exchange, error, thrown, phase === 'streaming');
      this.#markFailed(thrown);
      if (phase === 'streaming') this.#cut('failed');
      else if (phase === 'waiting') {
        this.refusedBy = error.window;
        this.whole(this.#errorReply(error));
      }
    } catch (another) {
      this.#giveUp(another);
    }
    this.detach();
  }

  #errorReply(error: ApiError): WholeReply {
    return {
      kind: 'whole',
      status: error.status,
      headers: { 'content-type': 'application/json', ...error.headers },
      body: errorJson(error, this.exchange.dialect, this.exchange.id),
    };
  }

  // ── from the channel ─────────────────────────────────────────────────────────────────────────────

  data(chunk: Uint8Array, last: boolean): void {
    if (last) this.exchange.received = performance.now();
    try {
      this.exchange.upload?.push(chunk, last);
    } catch (thrown) {
      this.failed(thrown);
    }
  }

  moving(): void {
    this.touched = this.exchange.core.now;
  }

  writable(): void {
    try {
      this.resume();
    } catch (thrown) {
      this.failed(thrown);
    }
  }

  sent(): void {
    if (this.phase === 'over') return;
    this.phase = 'over';
    // A stream of known length is sent with its last byte: its source may still be paused, and has to complete.
    if (this.full) this.writable();
    this.#logEnd();
    this.#remove();
  }

  gone(): void {
    if (this.phase === 'over') return;
    if (this.status === 0) this.exchange.stats.count(clientClosedRequest);
    this.#end('client disconnected');
  }

  /** Something threw outside of the pipeline. */
  failed(thrown: unknown): void {
    if (this.phase === 'waiting') this.error(thrown);
    else this.#giveUp(thrown);
  }

  // ── from the edge's timer and its drain ──────────────────────────────────────────────────────────

  tick(): void {
    try {
      this.#checkTimeouts();
    } catch (thrown) {
      this.failed(thrown);
    }
  }

  #checkTimeouts(): void {
    const { core, channel, upload } = this.exchange;
    const { limits, now } = core;
    const { phase, full, touched } = this;
    if (phase === 'waiting') {
      const late = upload?.lateness(now, limits);
      if (late !== undefined) this.error(fail('invalid_request', late));
    } else if (full || phase === 'ended') {
      if (now - touched >= limits.stalledReaderMs) this.#cut('client stalled');
      else channel.excuse();
    } else this.keepAlive(limits.keepAliveMs);
  }

  shutDown(): void {
    this.#break(shuttingDown(), 'shutdown');
  }

  // ── from an operator ─────────────────────────────────────────────────────────────────────────────

  live(): LiveRequest | undefined {
    return this.phase === 'over' ? undefined : liveRequest(this.exchange, this);
  }

  cancel(error: ApiError): void {
    this.#break(error, 'cancelled');
  }

  /** Ends it as a failure: by an error response, inside the stream where its format has a way, else by a cut. */
  #break(error: ApiError, reason: CutReason): void {
    const { phase } = this;
    const { stream } = this.exchange;
    if (phase === 'waiting') this.error(error);
    else if (phase === 'over') this.detach();
    else if (phase === 'ended' || stream === undefined) {
      this.#markFailed(error);
      this.#cut(reason);
    } else
      try {
        stream.error(error);
      } catch (thrown) {
        this.failed(thrown);
      }
  }

  /** Before the pipeline is unsubscribed from: what it has used is then that of a failure, not of a client that left. */
  #markFailed(thrown: unknown): void {
    this.exchange.failure ??= thrown;
  }

  // ── the end ──────────────────────────────────────────────────────────────────────────────────────

  /** Not even an error can be sent. */
  #giveUp(thrown: unknown): void {
    this.#logError(thrown, 'request failed');
    this.#markFailed(thrown);
    if (this.phase !== 'over') this.#cut('failed');
  }

  #cut(reason: CutReason): void {
    this.phase = 'over';
    this.exchange.channel.destroy();
    this.#end(reason);
  }

  #end(reason: CutReason): void {
    this.phase = 'over';
    this.#detached = true;
    this.#unsubscribe();
    this.#logEnd(reason);
    this.#remove();
  }

  detach(): void {
    this.#detached = true;
    this.#unsubscribe();
    this.#remove();
  }

  #unsubscribe(): void {
    const subscription = this.#subscription;
    this.#subscription = undefined;
    try {
      subscription?.unsubscribe();
    } catch (thrown) {
      this.#logError(thrown, 'pipeline teardown failed');
    }
    // Nothing of the pipeline can hold it any more.
    this.exchange.upload?.finish();
  }

  #logEnd(cut?: CutReason): void {
    try {
      logEnd(this.exchange, this, cut);
    } catch (thrown) {
      this.#logError(thrown, 'request line failed');
    }
  }

  #logError(thrown: unknown, message: string): void {
    const { log, route } = this.exchange;
    log.error({ err: thrown, route: route?.path ?? null }, message);
  }

  /** Open until both the pipeline and the socket are done with it. */
  #remove(): void {
    if (this.phase !== 'over' || !this.#detached) return;
    const { core } = this.exchange;
    core.open.delete(this);
    if (core.draining && core.open.size === 0) core.drained();
  }
}

const shuttingDown = (): ApiError => fail('unavailable', 'The server is shutting down');
