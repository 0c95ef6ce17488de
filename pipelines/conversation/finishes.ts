/** Tracks which choices of a stream have finished, and holds the last finish until the usage arrives. */
import type { Part } from '../../src/ports/engines/chat.ts';

export type Finish = Extract<Part, { type: 'finish' }>;

/** For a choice whose engine reported no finish. */
export const defaultFinish = (choice: number): Finish => ({
  type: 'finish',
  choice,
  reason: 'stop',
  native: null,
});

export class Finishes {
  readonly #finished: boolean[] = [];
  /** Its chunk may have to carry the usage. */
  #held: Finish | undefined;

  constructor(choices: number) {
    for (let choice = 0; choice < choices; choice++) this.#finished.push(false);
  }

  hold(finish: Finish): void {
    this.#held = finish;
  }

  /** The held one, when something came after it: it was not the last. */
  release(): Finish | undefined {
    const held = this.#held;
    if (held === undefined) return undefined;
    this.#held = undefined;
    this.#finished[held.choice] = true;
    return held;
  }

  /** Those of the choices that are still open; the held one last. */
  open(): readonly Finish[] {
    const held = this.#held;
    const open = this.#finished.flatMap((finished, choice) =>
      finished || choice === held?.choice ? [] : [defaultFinish(choice)],
    );
    return held === undefined ? open : [...open, held];
  }
}
