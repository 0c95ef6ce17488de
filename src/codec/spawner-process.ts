/**
 * Script of the process that spawns ffmpeg for the gateway.
 *
 * A fork copies the page tables of the parent: tens of milliseconds in a process of hundreds of megabytes, one in this
 * small one. Once the gateway has exited, for whatever reason, all processes started here are killed and their folder
 * is removed.
 */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import {
  greeting,
  type SpawnEvent,
  type SpawnRequest,
  type StartRequest,
  socketName,
} from './spawner-messages.ts';

const maxLogLength = 256 * 1024;
/** Lower priority than the gateway, so that streams go on during conversions. */
const niceness = 10;

const folder = process.argv[2] ?? '';
/** How to kill what runs. */
const running = new Map<number, () => void>();

const send = (event: SpawnEvent): void => {
  if (event.event !== 'started') running.delete(event.id);
  if (process.connected) process.send?.(event, () => undefined);
};

/** Paused before it is connected, so that not a byte is read here. */
const open = (id: number, stream: 0 | 1): { socket: Socket; greeted: Promise<void> } => {
  const socket = connect(join(folder, socketName)).pause();
  const greeted = new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.write(greeting(id, stream), (error) => (error ? reject(error) : resolve()));
  });
  return { socket, greeted };
};

const start = async (request: StartRequest): Promise<void> => {
  const input = open(request.id, 0);
  const output = open(request.id, 1);
  const close = () => {
    input.socket.destroy();
    output.socket.destroy();
  };
  running.set(request.id, close);
  try {
    await Promise.all([input.greeted, output.greeted]);
    launch(request, input.socket, output.socket);
  } catch (error) {
    send({ event: 'failed', id: request.id, message: String(error) });
  } finally {
    // The process has its own descriptors of them now.
    close();
  }
};

const launch = ({ id, file, arguments: words }: StartRequest, input: Socket, output: Socket): void => {
  const child = spawn(file, words, {
    shell: false,
    windowsHide: true,
    // The gateway's environment has secrets.
    env: { LC_ALL: 'C' },
    stdio: [input, output, 'pipe'],
  });
  let log = '';
  // A process that was not started emits no `close`.
  child.on('error', (error) => {
    if (child.pid === undefined) send({ event: 'failed', id, message: String(error) });
  });
  child.on('close', (code) => send({ event: 'ended', id, code, log }));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (log.length < maxLogLength) log += text;
  });
  if (child.pid === undefined) return;
  running.set(id, () => child.kill('SIGKILL'));
  lowerPriority(child.pid);
  send({ event: 'started', id, pid: child.pid });
};

const lowerPriority = (pid: number): void => {
  try {
    setPriority(pid, niceness);
  } catch {
    // It has exited already, or the system does not allow it.
  }
};

process.on('message', (request: SpawnRequest) => {
  if (request.request === 'start') void start(request);
  else running.get(request.id)?.();
});
process.on('disconnect', () => {
  for (const kill of running.values()) kill();
  // After the last of them has exited.
  process.once('beforeExit', () => rmSync(folder, { recursive: true, force: true }));
});
// Signals to the process group are for the gateway; this process exits after it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
