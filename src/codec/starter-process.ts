/**
 * The script of a process of its own: orders of the gateway in; processes that speak with the gateway directly, and how
 * they ended, out. Starting one copies the page tables of whoever does it, which stops a process of hundreds of
 * megabytes for tens of milliseconds and this small one for one. When the gateway is gone, however that came, everything
 * started here is killed and the folder that they shared removed.
 */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { greeting, type Order, type StartOrder, socketName, type Word } from './starter-messages.ts';

const maxLogLength = 256 * 1024;
/** Below the process that holds the sockets, so that streams go on while something is converted. */
const niceness = 10;

const folder = process.argv[2] ?? '';
/** How to kill what runs. */
const running = new Map<number, () => void>();

const say = (word: Word): void => {
  if (word.word !== 'started') running.delete(word.id);
  // A gateway that has left needs to hear nothing.
  if (process.connected) process.send?.(word, () => undefined);
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

const start = async (order: StartOrder): Promise<void> => {
  const input = open(order.id, 0);
  const output = open(order.id, 1);
  const close = () => {
    input.socket.destroy();
    output.socket.destroy();
  };
  running.set(order.id, close);
  try {
    await Promise.all([input.greeted, output.greeted]);
    launch(order, input.socket, output.socket);
  } catch (error) {
    say({ word: 'failed', id: order.id, message: String(error) });
  } finally {
    // The process has them now, and its end is theirs.
    close();
  }
};

const launch = ({ id, file, arguments: words }: StartOrder, input: Socket, output: Socket): void => {
  const child = spawn(file, words, {
    shell: false,
    windowsHide: true,
    // Nothing of ours is its business.
    env: { LC_ALL: 'C' },
    stdio: [input, output, 'pipe'],
  });
  let log = '';
  // One that never started is never closed.
  child.on('error', (error) => {
    if (child.pid === undefined) say({ word: 'failed', id, message: String(error) });
  });
  child.on('close', (code) => say({ word: 'ended', id, code, log }));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (log.length < maxLogLength) log += text;
  });
  if (child.pid === undefined) return;
  running.set(id, () => child.kill('SIGKILL'));
  lowerPriority(child.pid);
  say({ word: 'started', id, pid: child.pid });
};

const lowerPriority = (pid: number): void => {
  try {
    setPriority(pid, niceness);
  } catch {
    // It is gone already, or the system does not let us: it runs as it is.
  }
};

process.on('message', (order: Order) => {
  if (order.order === 'start') void start(order);
  else running.get(order.id)?.();
});
process.on('disconnect', () => {
  for (const kill of running.values()) kill();
  // Once the last of them is gone.
  process.once('beforeExit', () => rmSync(folder, { recursive: true, force: true }));
});
// What is told to a whole group of processes is for the gateway to obey: this one ends after it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
