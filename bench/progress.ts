/** Shows how far a run is: a bar with the time left on a terminal, plain lines elsewhere. */

interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const barWidth = 24;
const redrawMilliseconds = 500;
/** Until so much is done, the estimate is the plan's alone. */
const calibratedAfter = 5;
const clearLine = '\r\x1b[2K';

export class Progress {
  readonly #output: Output;
  readonly #now: () => number;
  readonly #startedAt: number;
  #timer: NodeJS.Timeout | undefined;
  /** In planned seconds. */
  #planned = 0;
  #done = 0;
  #label = '';

  constructor(output: Output = process.stderr, now: () => number = () => performance.now()) {
    this.#output = output;
    this.#now = now;
    this.#startedAt = now();
    if (output.isTTY === true) this.#timer = setInterval(() => this.#draw(), redrawMilliseconds).unref();
  }

  /** Adds work to the plan. */
  plan(seconds: number): void {
    this.#planned += seconds;
  }

  /** What runs now; only a terminal shows it. */
  begin(label: string): void {
    this.#label = label;
    this.#draw();
  }

  /** Work of the plan is done; without a terminal the line says so. */
  finish(seconds: number, line?: string): void {
    this.#done += seconds;
    if (this.#timer === undefined && line !== undefined) this.#output.write(`${line}\n`);
    this.#draw();
  }

  /** A line for the reader, on a terminal too. */
  say(line: string): void {
    this.#output.write(`${this.#timer === undefined ? '' : clearLine}${line}\n`);
    this.#draw();
  }

  end(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#output.write(clearLine);
  }

  /** Seconds left: the plan's, corrected by how long its first part took. */
  get left(): number {
    const spent = (this.#now() - this.#startedAt) / 1000;
    const pace = this.#done > calibratedAfter ? spent / this.#done : 1;
    return Math.max(0, (this.#planned - this.#done) * pace);
  }

  #draw(): void {
    if (this.#timer === undefined) return;
    const share = this.#planned === 0 ? 0 : Math.min(1, this.#done / this.#planned);
    const full = Math.round(share * barWidth);
    const bar = '█'.repeat(full) + '░'.repeat(barWidth - full);
    const percent = String(Math.floor(share * 100)).padStart(3);
    const line = `${bar} ${percent} %  ${clock(this.left)} left  ${this.#label}`;
    // A terminal that does not know its width says 0.
    const width = this.#output.columns || 80;
    this.#output.write(clearLine + [...line].slice(0, width - 1).join(''));
  }
}

const clock = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
