/** Emits the parts of planned answers at the set pace, with backpressure. */
import { Observable, type Subscriber } from 'rxjs';
import type { Pausable } from '../../ports/backpressure.ts';
import type { Part, Parts, TokenUsage } from '../../ports/engines/chat.ts';
import type { Flow } from '../../ports/engines/engine.ts';
import type { Fault } from '../directives.ts';
import { failureOf } from '../faults.ts';
import type { Task, Ticker } from '../ticker.ts';
import type { SimulatedChoice } from './completion.ts';

export interface Script {
  readonly answers: readonly SimulatedChoice[];
  /** Milliseconds before the first token. */
  readonly first: number;
  /** Milliseconds between two tokens of an answer; 0 for as fast as the reader takes them. */
  readonly interval: number;
  readonly faults: readonly Fault[];
  /** Called at the end; undefined for an engine that reports none. */
  readonly usage: ((completion: number, reasoning: number) => TokenUsage) | undefined;
}

/** Parts of one emission, at most. */
const batch = 32;

export const play = (script: Script, ticker: Ticker, flow: Flow): Observable<Parts> =>
  new Observable((subscriber) => {
    const playback = new Playback(script, ticker, subscriber);
    playback.resume();
    flow.backpressure.attach(playback);
    return () => {
      flow.backpressure.detach(playback);
      playback.pause();
    };
  });

class Playback implements Task, Pausable {
  due: number;
  readonly #script: Script;
  readonly #ticker: Ticker;
  readonly #subscriber: Subscriber<Parts>;
  readonly #unfinished: SimulatedChoice[];
  #fault = 0;
  #emitted = false;

  constructor(script: Script, ticker: Ticker, subscriber: Subscriber<Parts>) {
    this.#script = script;
    this.#ticker = ticker;
    this.#subscriber = subscriber;
    this.#unfinished = [...script.answers];
    this.due = ticker.now() + script.first;
  }

  /** Off the ticker altogether: a paused stream costs nothing and makes nothing. */
  pause(): void {
    this.#ticker.remove(this);
  }

  /** Carries on from now: what was not made during the pause is not made up for. */
  resume(): void {
    this.due = Math.max(this.due, this.#ticker.now());
    this.#ticker.add(this);
  }

  run(now: number): void {
    const parts: Part[] = [];
    while (this.due <= now && parts.length < batch) {
      const fault = this.#dueFault();
      if (fault?.type === 'stall') this.due = now + fault.milliseconds;
      else if (fault === undefined && this.#unfinished.length > 0) this.#step(parts);
      else {
        if (fault === undefined) this.#end(parts);
        else this.#fail(parts, fault);
        return;
      }
    }
    this.#emit(parts);
  }

  /** Every unfinished answer emits one token. */
  #step(parts: Part[]): void {
    for (let index = 0; index < this.#unfinished.length; ) {
      if (this.#unfinished[index]?.step(parts) === true) index += 1;
      else this.#unfinished.splice(index, 1);
    }
    if (this.#unfinished.length > 0) this.due += this.#script.interval;
  }

  #dueFault(): Fault | undefined {
    const fault = this.#script.faults[this.#fault];
    if (fault === undefined || (this.#tokens() < fault.after && this.#unfinished.length > 0))
      return undefined;
    this.#fault += 1;
    return fault;
  }

  #tokens(): number {
    let tokens = 0;
    for (const answer of this.#script.answers) tokens += answer.tokens;
    return tokens;
  }

  #emit(parts: Part[]): void {
    if (parts.length === 0) return;
    this.#emitted = true;
    this.#subscriber.next(parts);
  }

  #fail(parts: Part[], fault: Exclude<Fault, { type: 'stall' }>): void {
    const error = failureOf(fault);
    if (!this.#emitted && parts.length === 0) {
      this.#subscriber.error(error);
      return;
    }
    parts.push({ type: 'failure', error });
    this.#subscriber.next(parts);
    this.#subscriber.complete();
  }

  #end(parts: Part[]): void {
    const { answers, usage } = this.#script;
    let reasoning = 0;
    for (const answer of answers) reasoning += answer.reasoning;
    if (usage !== undefined) parts.push({ type: 'usage', usage: usage(this.#tokens(), reasoning) });
    this.#emit(parts);
    this.#subscriber.complete();
  }
}
