/** Spawns processes through a small helper process, as a fork of the whole gateway would block its event loop. */
import { type ChildProcess, fork } from 'node:child_process';
import { access, rm } from 'node:fs/promises';
import type { Server, Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { killOrphans } from './orphans.ts';
import { killGroup } from './process-group.ts';
import type { Command } from './sandbox.ts';
import {
  greetingLength,
  type ProcessExit,
  type SpawnEvent,
  type SpawnRequest,
  socketName,
} from './spawner-messages.ts';

/** A running process: the gateway has the other ends of its pipes, but is not its parent. */
interface StartedProcess {
  readonly input: Socket;
  readonly output: Socket;
  /** Rejects when it could not be started, or its exit was not observed. */
  readonly ended: Promise<ProcessExit>;
  kill(): void;
}

interface Run {
  readonly id: number;
  readonly streams: (Socket | undefined)[];
  pid: number | undefined;
  over: boolean;
  /** Both streams are connected. */
  connected(input: Socket, output: Socket): void;
  ended(exit: ProcessExit): void;
  failed(error: Error): void;
}

/** Milliseconds in which a command must have been started, one that was killed have ended, and the helper exited. */
const responseTimeoutMs = 30_000;
/** For messages of a helper that has exited. */
const lastMessagesMs = 1000;

export class Spawner {
  /** Removed with the process, also when the gateway is killed. */
  readonly folder: string;
  /** The seccomp filter of its processes. */
  readonly filter: string;
  readonly #server: Server;
  readonly #process: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #runs = new Map<number, Run>();
  #last = 0;
  #hasExited = false;

  constructor(folder: string, server: Server) {
    this.folder = folder;
    this.filter = filterIn(folder);
    this.#server = server.on('connection', (socket) => this.#accept(socket)).unref();
    this.#process = fork(script, [folder], {
      // Small, and without the gateway's environment.
      execArgv: loader,
      env: {},
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#process.on('message', (event: SpawnEvent) => this.#receive(event));
    this.#exited = this.#end().then(() => this.#onExit());
    // `close` rejects with it; nobody else waits for the removal.
    this.#exited.catch(() => undefined);
    this.#updateRef();
  }

  /** False when it has exited, or its folder was removed by somebody else. */
  async usable(): Promise<boolean> {
    if (this.#hasExited) return false;
    return access(join(this.folder, socketName)).then(
      () => true,
      () => false,
    );
  }

  start(command: Command): Promise<StartedProcess> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      if (this.#hasExited) return reject(spawnerExited());
      let clock = this.#expectResponse();
      let isConnected = false;
      const kill = () => {
        if (!this.#runs.has(id)) return;
        clearTimeout(clock);
        clock = this.#expectResponse();
        this.#send({ request: 'kill', id });
      };
      const ended = new Promise<ProcessExit>((settle, fail) => {
        this.#runs.set(id, {
          id,
          streams: [undefined, undefined],
          pid: undefined,
          over: false,
          connected: (input, output) => {
            isConnected = true;
            clearTimeout(clock);
            resolve({ input, output, ended, kill });
          },
          ended: (exit) => {
            // Pipes of a short process may be still to come.
            if (isConnected) clearTimeout(clock);
            settle(exit);
          },
          failed: (error) => {
            clearTimeout(clock);
            reject(error);
            fail(error);
          },
        });
      });
      // Whoever has the process awaits it; before that, `reject` reports the error.
      ended.catch(() => undefined);
      this.#updateRef();
      this.#send({ request: 'start', id, command });
    });
  }

  /** Resolves when it and its processes have exited and its folder is removed. */
  async close(): Promise<void> {
    if (this.#process.connected) this.#process.disconnect();
    this.#process.ref();
    await this.#exited;
  }

  #send(request: SpawnRequest): void {
    // A request that cannot be sent is settled by the exit of the helper.
    if (this.#process.connected) this.#process.send(request, () => undefined);
  }

  #accept(socket: Socket): void {
    // A process that needs no more input closes it: no failure; its exit code reports all others.
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

  #receive(event: SpawnEvent): void {
    const run = this.#runs.get(event.id);
    if (run === undefined) return;
    if (event.event === 'started') {
      run.pid = event.pid;
      return;
    }
    if (event.event === 'failed') {
      run.failed(new Error(event.message));
      this.#forget(run);
      return;
    }
    run.over = true;
    run.ended(event);
    // A short process may exit before its pipes were accepted here.
    if (!run.streams.includes(undefined)) this.#forget(run);
  }

  #forget({ id }: Run): void {
    this.#runs.delete(id);
    this.#updateRef();
  }

  /** A helper that does not respond is replaced; with it all of its processes end. */
  #expectResponse(): NodeJS.Timeout {
    return setTimeout(() => this.#process.kill('SIGKILL'), responseTimeoutMs);
  }

  /** Resolves when it has exited and its last message was received. */
  #end(): Promise<void> {
    return new Promise((resolve) => {
      let clock: NodeJS.Timeout | undefined;
      const onceDisconnected = () => {
        clearTimeout(clock);
        if (this.#hasExited) resolve();
        // It exits by itself; what it started must not keep it.
        else clock = this.#expectResponse();
      };
      this.#process.on('disconnect', onceDisconnected);
      this.#process.on('exit', () => {
        this.#hasExited = true;
        clearTimeout(clock);
        if (this.#process.connected) clock = setTimeout(resolve, lastMessagesMs);
        else resolve();
      });
      this.#process.on('error', () => {
        // A process that was not started emits no `exit`.
        if (this.#process.pid === undefined) resolve();
      });
    });
  }

  /** Its processes would have no supervisor now: they are killed. */
  async #onExit(): Promise<void> {
    this.#hasExited = true;
    this.#server.close();
    for (const { pid, over, streams, failed } of this.#runs.values()) {
      if (!over) killGroup(pid);
      for (const socket of streams) socket?.destroy();
      failed(spawnerExited());
    }
    this.#runs.clear();
    if (this.#process.exitCode !== 0) await killOrphans(this.folder);
    // Retried, as processes in it may be about to exit.
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Keeps the gateway alive only while a process runs. */
  #updateRef(): void {
    const word = this.#runs.size > 0 ? 'ref' : 'unref';
    this.#process[word]();
    this.#process.channel?.[word]();
  }
}

export const filterIn = (folder: string): string => join(folder, 'filter');

/** TypeScript sources need a loader. */
const isSource = import.meta.url.endsWith('.ts');
const script = fileURLToPath(
  new URL(isSource ? './spawner-process.ts' : './spawner-process.js', import.meta.url),
);
const loader = isSource ? ['--import', import.meta.resolve('tsx')] : [];

const spawnerExited = () => new Error('the process that spawns others has exited');
