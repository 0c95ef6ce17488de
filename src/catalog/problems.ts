/** What is wrong with a configuration file: places in it and sentences about them, and the error that carries them. */

/** Keys and list positions from the top of the file. */
export type Path = readonly string[];

export interface Problem {
  readonly path: Path;
  /** Goes on from the field's name: `must be an integer`. */
  readonly says: string;
}

/** A configuration that cannot be used. `message` is one line; `problems` has them all, in the order of the file. */
export class CatalogFileError extends Error {
  override readonly name: string = 'CatalogFileError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[], cause?: unknown) {
    const more = problems.length - 1;
    super(
      `${problems[0]}${more > 0 ? ` (and ${more} more)` : ''}`,
      cause === undefined ? undefined : { cause },
    );
    this.problems = problems;
  }
}

/** The file is not there or may not be read: another matter than a file with mistakes in it. */
export class CatalogUnreadableError extends CatalogFileError {
  override readonly name = 'CatalogUnreadableError';
}
