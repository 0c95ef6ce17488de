/** Bytes that are read and made sense of in; pauses out, so that no turn of the event loop spends too long on them: the system hands over megabytes at once where a peer is near. */
import type { DemandListener } from '../ports/demand.ts';

/** A few milliseconds' worth. */
const turnBytes = 512 * 1024;

/** One for all calls whose answers are large. */
export class TurnBudget {
  #spent = 0;
  #turn: NodeJS.Immediate | undefined;
  readonly #paused = new Set<DemandListener>();

  /** The source of the bytes is held back until the next turn when this one has had its share. */
  spend(bytes: number, source: DemandListener | undefined): void {
    this.#spent += bytes;
    this.#turn ??= setImmediate(() => this.#next());
    if (this.#spent < turnBytes || source === undefined || this.#paused.has(source)) return;
    this.#paused.add(source);
    source.pause();
  }

  #next(): void {
    this.#turn = undefined;
    this.#spent = 0;
    const paused = [...this.#paused];
    this.#paused.clear();
    for (const source of paused) source.resume();
  }
}
