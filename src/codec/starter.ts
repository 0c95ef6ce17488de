/** Commands in; processes out that another process started, because doing it here would stop the event loop while the page tables of the whole gateway are copied. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Ending, greetingLength, type Order, socketName, type Word } from './starter-messages.ts';

/** A process as it runs: its ends of the pipes are here, it is not a child of ours. */
export interface StartedProcess {
  readonly input: Socket;
  readonly output: Socket;
  /** Rejects when it could not be started, or nobody knows what became of it. */
  readonly ended: Promise<Ending>;
  kill(): void;
}

interface Run {
  readonly id: number;
  readonly streams: (Socket | undefined)[];
  pid: number | undefined;
  over: boolean;
  /** Both streams are there. */
  connected(input: Socket, output: Socket): void;
  ended(ending: Ending): void;
  failed(error: Error): void;
}

/** Milliseconds in which a command must have been started. */
const patience = 30_000;

export class Starter {
  /** Whatever is in it is removed with the process, also when the gateway is killed. */
  readonly folder: string;
  readonly #server: Server;
  readonly #process: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #runs = new Map<number, Run>();
  #last = 0;
  #gone = false;

  constructor(folder: string, server: Server) {
    this.folder = folder;
    this.#server = server.on('connection', (socket) => this.#greet(socket)).unref();
    this.#process = fork(script, [folder], {
      // Small, and with nothing of ours in it.
      execArgv: loader,
      env: {},
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#process.on('message', (word: Word) => this.#hear(word));
    this.#exited = new Promise<void>((resolve) => {
      this.#process.on('exit', resolve);
      this.#process.on('error', () => {
        // One that never started never exits.
        if (this.#process.pid === undefined) resolve();
      });
    }).then(() => this.#lose());
    // `close` tells; without it nobody waits for a folder.
    this.#exited.catch(() => undefined);
    this.#hold();
  }

  /** False when it died, or when somebody cleared its folder away. */
  async usable(): Promise<boolean> {
    if (this.#gone) return false;
    return access(join(this.folder, socketName)).then(
      () => true,
      () => false,
    );
  }

  start(file: string, words: readonly string[]): Promise<StartedProcess> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      if (this.#gone) return reject(lost());
      // One that does not answer is of no use to anybody.
      const clock = setTimeout(() => this.#process.kill('SIGKILL'), patience);
      const ended = new Promise<Ending>((settle, fail) => {
        this.#runs.set(id, {
          id,
          streams: [undefined, undefined],
          pid: undefined,
          over: false,
          connected: (input, output) => {
            clearTimeout(clock);
            resolve({ input, output, ended, kill: () => this.#tell({ order: 'kill', id }) });
          },
          ended: settle,
          failed: (error) => {
            clearTimeout(clock);
            reject(error);
            fail(error);
          },
        });
      });
      // Who has the process looks at it; before that, `reject` has told.
      ended.catch(() => undefined);
      this.#hold();
      this.#tell({ order: 'start', id, file, arguments: words });
    });
  }

  /** Resolves when it, what it started and its folder are gone. */
  async close(): Promise<void> {
    if (this.#process.connected) this.#process.disconnect();
    this.#process.ref();
    await this.#exited;
  }

  #tell(order: Order): void {
    // What cannot be told any more is settled by its end.
    if (this.#process.connected) this.#process.send(order, () => undefined);
  }

  #greet(socket: Socket): void {
    // A process that has enough closes its input: that is no failure, and its end tells of all others.
    socket.on('error', () => undefined);
    socket.once('readable', () => {
      const greeting: Buffer | null = socket.read(greetingLength);
      const run = greeting === null ? undefined : this.#runs.get(greeting.readUInt32LE());
      if (greeting === null || run === undefined) {
        socket.destroy();
        return;
      }
      run.streams[greeting.readUInt8(4)] = socket;
      const [input, output] = run.streams;
      if (input === undefined || output === undefined) return;
      run.connected(input, output);
      if (run.over) this.#forget(run);
    });
  }

  #hear(word: Word): void {
    const run = this.#runs.get(word.id);
    if (run === undefined) return;
    if (word.word === 'started') {
      run.pid = word.pid;
      return;
    }
    if (word.word === 'failed') {
      run.failed(new Error(word.message));
      this.#forget(run);
      return;
    }
    run.over = true;
    run.ended(word);
    // A short life may be over before its pipes were accepted here; they come.
    if (!run.streams.includes(undefined)) this.#forget(run);
  }

  #forget({ id }: Run): void {
    this.#runs.delete(id);
    this.#hold();
  }

  /** What it had started is without a guard now, and ends with it. */
  #lose(): Promise<void> {
    this.#gone = true;
    this.#server.close();
    for (const { pid, over, streams, failed } of this.#runs.values()) {
      if (pid !== undefined && !over) kill(pid);
      for (const socket of streams) socket?.destroy();
      failed(lost());
    }
    this.#runs.clear();
    // Those that ran in it may just be leaving.
    return rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Keeps the gateway alive only while something runs. */
  #hold(): void {
    const word = this.#runs.size > 0 ? 'ref' : 'unref';
    this.#process[word]();
    this.#process.channel?.[word]();
  }
}

export const openStarter = async (): Promise<Starter> => {
  // Made with mode 0700: nobody else can connect.
  const folder = await mkdtemp(join(tmpdir(), 'sluice-codec-'));
  const server = createServer();
  // Never shared with other gateways of a cluster.
  server.listen({ path: join(folder, socketName), exclusive: true });
  try {
    await once(server, 'listening');
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return new Starter(folder, server);
};

/** Sources are run as they are. */
const isSource = import.meta.url.endsWith('.ts');
const script = fileURLToPath(
  new URL(isSource ? './starter-process.ts' : './starter-process.js', import.meta.url),
);
const loader = isSource ? ['--import', import.meta.resolve('tsx')] : [];

const lost = () => new Error('the process that starts others is gone');

const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It was quicker.
  }
};
