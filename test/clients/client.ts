/** What a client under test is: pinned packages, and checks to run against a started gateway. */

/** A file `<slug>.client.ts` in a folder of `test/clients` has one as its default export. */
export interface Client {
  /** As the table calls it. */
  readonly name: string;
  /** Where its packages are from. */
  readonly registry: 'npm' | 'pypi';
  /** Exact versions by package name; the table shows them. */
  readonly packages: Readonly<Record<string, string>>;
  /** npm only: whether install scripts of its packages run. They do not by default. */
  readonly scripts?: boolean;
  /** Why it cannot run on this machine though its packages are there; undefined: it can. */
  readonly missing?: () => string | undefined;
  /** Limit for all its checks; 300 by default. */
  readonly seconds?: number;
  readonly run: (site: Site) => Promise<void>;
}

/** What the checks of one client get. */
export interface Site {
  /** `http://127.0.0.1:PORT`, and the same with `/v1`. Programs have the latter as `SLUICE_URL`. */
  readonly origin: string;
  readonly url: string;
  /** Of a subscription of this run. Programs have it as `SLUICE_KEY`. */
  readonly key: string;
  /** Empty at first: home and working folder of its programs. npm clients find `node_modules` in it. */
  readonly folder: string;
  /** Where the packages are installed: a Python environment, or a folder with `node_modules`. */
  readonly installed: string;
  /** Runs one check and reports it by name. A failure does not keep later checks from running. */
  check(name: string, run: () => Promise<void>): Promise<void>;
  /** Reports a check that something else has run; `problem` is undefined when it passed. */
  report(name: string, problem: string | undefined, seconds?: number): void;
  /** Runs a program, found among those of its packages first; throws unless it ends with code 0. */
  run(program: string, args: readonly string[], options?: RunOptions): Promise<Output>;
  /** Text of the block of docs/clients.md that is marked `<slug>/<name>`, with this gateway's address. */
  block(name: string): string;
  /** Runs that block: `sh` by bash, `python` by its environment, `js` by Node. */
  runBlock(name: string, options?: RunOptions): Promise<Output>;
}

export interface RunOptions {
  /** In addition to PATH, HOME, SLUICE_URL and SLUICE_KEY. Nothing else of this process's environment is passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** Limit for this program, after which it and what it started are killed; 60 by default. */
  readonly seconds?: number;
  /** Standard input; empty by default. */
  readonly input?: string;
  /** Instead of `folder`. */
  readonly cwd?: string;
  /** Returns the output of a program that ends with another code, too. */
  readonly allowFailure?: boolean;
}

export interface Output {
  /** Undefined: ended by a signal. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CheckResult {
  readonly name: string;
  readonly seconds: number;
  readonly problem: string | undefined;
}
