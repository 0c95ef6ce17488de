/** Limits the work of making and checking an instance of a schema. */

/** Why there is no instance: a sentence that follows the name of the field. */
export class SchemaProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SchemaProblem';
  }
}

/** Two demands that cannot be met together; another branch may do. */
export class Contradiction extends SchemaProblem {}

const stepLimit = 20_000;
const textLimit = 256 * 1024;
const depthLimit = 100;

/** A schema is an untrusted program: steps, depth and text are limited. */
export class Budget {
  #steps = stepLimit;
  #text = textLimit;
  #depth = 0;

  /** Runs one step; steps within it are one level deeper. */
  step<T>(run: () => T): T {
    this.#steps -= 1;
    this.#depth += 1;
    if (this.#steps < 0) throw new SchemaProblem('is too large for the simulator');
    if (this.#depth > depthLimit) throw new SchemaProblem('is nested too deeply, or without end');
    try {
      return run();
    } finally {
      this.#depth -= 1;
    }
  }

  text(length: number): void {
    this.#text -= length;
    if (this.#text < 0) throw new SchemaProblem('asks for more text than the simulator makes');
  }
}
