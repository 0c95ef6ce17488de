/**
 * Script of the process that spawns ffmpeg for the gateway.
 *
 * A fork copies the page tables of the parent: tens of milliseconds in a process of hundreds of megabytes, one in this
 * small one. Once the gateway has exited, for whatever reason, all processes started here are killed and their folder
 * is removed.
 */
import { closeSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { spawnGroup } from './process-group.ts';
import {
  greeting,
  type SpawnEvent,
  type SpawnRequest,
  type StartRequest,
  socketName,
} from './spawner-messages.ts';

const maxLogLength = 256 * 1024;
/** Lower priority than the gateway, so that streams go on during conversions. */
const niceness = 5;
/** A conversion that takes long gives way to short ones: after so many milliseconds, to this. */
const longMs = 250;
const longNiceness = 12;
/** Once the gateway has gone, for processes that do not end though they were killed. */
const exitMs = 5000;

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
  const { id } = request;
  const input = open(id, 0);
  const output = open(id, 1);
  const close = () => {
    input.socket.destroy();
    output.socket.destroy();
  };
  running.set(id, close);
  try {
    await Promise.all([input.greeted, output.greeted]);
    if (input.socket.destroyed) throw new Error('killed before it was started');
    const code = launch(request, input.socket, output.socket);
    // The process has its own descriptors of them now.
    close();
    send({ event: 'ended', id, ...(await code) });
  } catch (error) {
    close();
    send({ event: 'failed', id, message: String(error) });
  }
};

const launch = async ({ id, command }: StartRequest, stdin: Socket, stdout: Socket) => {
  // Its folder identifies a process of ours.
  const env = { LC_ALL: 'C', TMPDIR: folder };
  const { child, ended, program, kill } = spawnGroup(command, { stdin, stdout, env });
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (log.length < maxLogLength) log += text;
  });
  if (child.pid !== undefined) {
    setSessionPriority(child.pid, niceness);
    running.set(id, kill);
    send({ event: 'started', id, pid: child.pid });
  }
  const clock = setInterval(() => {
    if (giveWay(child.pid, program())) clearInterval(clock);
  }, longMs);
  try {
    return { code: await ended, log };
  } finally {
    clearInterval(clock);
  }
};

/** False: to be tried again. On Linux each thread has a priority of its own. */
const giveWay = (leader: number | undefined, program: number | undefined): boolean => {
  if (leader === undefined || program === undefined) return false;
  try {
    const threads = process.platform === 'linux' ? readdirSync(`/proc/${program}/task`) : [program];
    for (const thread of threads) setPriority(Number(thread), longNiceness);
  } catch {
    // It has just ended, or the system does not allow it.
  }
  return setSessionPriority(leader, longNiceness);
};

/**
 * Where the kernel shares processors between sessions, priorities count within a session only, and each conversion has
 * a session of its own. False: it takes such changes ten times a second.
 */
const setSessionPriority = (leader: number, to: number): boolean => {
  try {
    if (process.platform === 'linux') writeFileSync(`/proc/${leader}/autogroup`, String(to));
    return true;
  } catch (error) {
    // Otherwise there are no such groups, it has ended, or it is not allowed.
    return (error as NodeJS.ErrnoException).code !== 'EAGAIN';
  }
};

/** Files that whoever started the gateway left open: each program would have them too. */
const closeInherited = (): void => {
  if (process.platform !== 'linux') return;
  for (const name of readdirSync('/proc/self/fd')) {
    const descriptor = Number(name);
    if (descriptor > 2 && isInherited(descriptor)) closeSync(descriptor);
  }
};

/** All of this process are closed when it executes a program. */
const isInherited = (descriptor: number): boolean => {
  const closesOnExecute = 0o2000000;
  try {
    const [, flags = '0'] =
      /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1')) ?? [];
    return (Number.parseInt(flags, 8) & closesOnExecute) === 0;
  } catch {
    // The list itself, which is closed again.
    return false;
  }
};

process.on('message', (request: SpawnRequest) => {
  if (request.request === 'start') void start(request);
  else running.get(request.id)?.();
});
process.on('disconnect', () => {
  for (const kill of running.values()) kill();
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  setTimeout(() => process.exit(1), exitMs).unref();
});
// Signals to the process group are for the gateway; this process exits after it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
try {
  // Inherited by all that is started here.
  setPriority(niceness);
} catch {
  // The system does not allow it.
}
closeInherited();
