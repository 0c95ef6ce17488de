/** Shows how far a run is: a bar with the time left on a terminal, plain lines elsewhere. */

interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const barWidth = 24;
const redrawMilliseconds = 500;
/** Work may be finished a thousand times a second; a terminal need not show each. */
const shortestMilliseconds = 100;
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
  /** What runs now counts by the clock, up to its planned seconds. */
  #step = { startedAt: 0, seconds: 0 };
  #drawnAt = Number.NEGATIVE_INFINITY;

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

  /** What runs now; only a terminal shows it. With seconds, the bar moves on while it runs. */
  begin(label: string, seconds = 0): void {
    this.#label = label;
    this.#step = { startedAt: this.#now(), seconds };
    this.#draw();
  }

  /** Work of the plan is done; without a terminal the line says so. */
  finish(seconds: number, line?: string): void {
    this.#done += seconds;
    this.#step = { startedAt: 0, seconds: 0 };
    if (this.#timer === undefined && line !== undefined) this.#output.write(`${line}\n`);
    if (this.#now() - this.#drawnAt >= shortestMilliseconds) this.#draw();
  }

  /** A line for the reader, on a terminal too. */
  say(line: string): void {
    this.#output.write(`${this.#timer === undefined ? '' : clearLine}${line}\n`);
    this.#draw();
  }

  /** How what runs now is doing: beside the bar on a terminal, a line elsewhere. */
  note(line: string): void {
    this.#label = line;
    if (this.#timer === undefined) this.#output.write(`${line}\n`);
    else this.#draw();
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
    const done = this.#soFar();
    const pace = done > calibratedAfter ? spent / done : 1;
    return Math.max(0, (this.#planned - done) * pace);
  }

  /** Planned seconds that are done, with those of what runs now. */
  #soFar(): number {
    const { startedAt, seconds } = this.#step;
    const running = seconds === 0 ? 0 : Math.min(seconds, (this.#now() - startedAt) / 1000);
    return this.#done + running;
  }

  #draw(): void {
    if (this.#timer === undefined) return;
    this.#drawnAt = this.#now();
    const share = this.#planned === 0 ? 0 : Math.min(1, this.#soFar() / this.#planned);
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
