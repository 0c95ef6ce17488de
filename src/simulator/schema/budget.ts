/** Limits the work of making and checking instances of schemas. */

/** Why there is no instance: a sentence that follows the name of the field. */
export class SchemaProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SchemaProblem';
  }
}

/** Two demands that cannot be met together; another branch may do. */
export class Contradiction extends SchemaProblem {}

/** Units of all schemas of one request: some 10 ms of the event loop, three times that in a process just started. */
const requestUnits = 50_000;
const textLimit = 256 * 1024;
const depthLimit = 100;

/** What the schemas of one request may still take. Counted, not timed: the same request has the same outcome. */
export class Allowance {
  left = requestUnits;
}

/** A schema is an untrusted program: work, depth and text are limited. */
export class Budget {
  readonly #allowance: Allowance;
  /** Units that are left to others. */
  readonly #reserve: number;
  #text = textLimit;
  #depth = 0;

  /** `share` of what is left may be spent. */
  constructor(allowance: Allowance, share = 1) {
    this.#allowance = allowance;
    this.#reserve = allowance.left * (1 - share);
  }

  /** A unit is about what it takes to look at one value: a fifth of a microsecond. */
  spend(units: number): void {
    this.#allowance.left -= units;
    if (this.#allowance.left < this.#reserve) throw new SchemaProblem('is too complex for the simulator');
  }

  /** Runs one step; steps within it are one level deeper. */
  step<T>(run: () => T): T {
    this.spend(stepUnits);
    this.#depth += 1;
    if (this.#depth > depthLimit) throw tooDeep();
    try {
      return run();
    } finally {
      this.#depth -= 1;
    }
  }

  text(length: number): void {
    this.#text -= length;
    if (this.#text < 0) throw new SchemaProblem('asks for more text than the simulator makes');
    this.spend(length / charactersPerUnit);
  }
}

export const tooDeep = (): SchemaProblem => new SchemaProblem('is nested too deeply, or without end');

const stepUnits = 8;
export const charactersPerUnit = 16;
