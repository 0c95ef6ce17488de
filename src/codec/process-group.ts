/**
 * Spawns a program as the leader of a process group, and kills the group as a whole.
 *
 * bubblewrap is two processes: a monitor, and the one that becomes ffmpeg. Killing the monitor alone, while it sets up
 * the other, leaves that one waiting for it forever with the pipes open. So the other one is killed, and the monitor
 * reaps it and exits. What is left after a moment is killed by its group: that reaches every member at once, even one
 * that is just being forked, and the seccomp filter keeps ffmpeg from leaving the group.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, unlinkSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Command } from './sandbox.ts';

interface GroupOptions {
  readonly stdin: Socket | 'ignore';
  readonly stdout: Socket | 'pipe';
  /** The only variables that it has: the gateway's environment has secrets. */
  readonly env: Readonly<Record<string, string>>;
}

export interface ProcessGroup {
  readonly child: ChildProcess;
  /** Exit code, or null after a signal; rejects when the program was not started. */
  readonly ended: Promise<number | null>;
  /** The process id of the program itself; undefined before it is known, and after its end. */
  program(): number | undefined;
  kill(): void;
}

/** For a monitor to exit, and for what pipes still hold after the exit. */
const patienceMs = 1000;
const lookMs = 2;

export const spawnGroup = (command: Command, options: GroupOptions): ProcessGroup => {
  const { file, arguments: words, monitor } = command;
  const { env } = options;
  const pipes: StdioOptions = [options.stdin, options.stdout, 'pipe'];
  const start = (stdio: StdioOptions): ChildProcess =>
    spawn(file, words, { shell: false, detached: true, env, stdio });
  if (monitor !== undefined) return monitored(monitor, (filter, report) => start([...pipes, filter, report]));
  const child = start(pipes);
  return {
    child,
    ended: end(child),
    program: () => (isOver(child) ? undefined : child.pid),
    kill: () => killGroup(child.pid),
  };
};

const monitored = (
  filterPath: string,
  start: (filter: number, report: number) => ChildProcess,
): ProcessGroup => {
  const report = openReport(filterPath);
  try {
    const filter = openSync(filterPath, 'r');
    try {
      const child = start(filter, report);
      const ended = end(child).finally(() => closeSync(report));
      const program = () => (isOver(child) ? undefined : reportedIn(report));
      return { child, ended, program, kill: killerOf(child, report) };
    } finally {
      closeSync(filter);
    }
  } catch (error) {
    closeSync(report);
    throw error;
  }
};

const isOver = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

/** A file: a pipe would break with this process, and the monitor with the pipe. */
const openReport = (filterPath: string): number => {
  const path = `${filterPath}.${randomUUID()}`;
  const report = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return report;
};

/** One that is killed before the monitor has reported it is killed as soon as it does. */
const killerOf = (monitor: ChildProcess, report: number): (() => void) => {
  let isKilled = false;
  let clock: NodeJS.Timeout | undefined;
  monitor.on('exit', () => {
    isKilled = true;
    clearTimeout(clock);
  });
  const look = (waited: number): void => {
    if (waited >= patienceMs) {
      killGroup(monitor.pid);
      return;
    }
    const id = reportedIn(report);
    if (id !== undefined) signal(id);
    const pause = id === undefined ? lookMs : patienceMs;
    clock = setTimeout(() => look(waited + pause), pause);
  };
  return () => {
    if (isKilled) return;
    isKilled = true;
    look(0);
  };
};

const reportedIn = (report: number): number | undefined => {
  const bytes = Buffer.alloc(64);
  const length = readSync(report, bytes, 0, bytes.length, 0);
  const [, id] = /"child-pid": (\d+)\D/.exec(bytes.toString('latin1', 0, length)) ?? [];
  return id === undefined ? undefined : Number(id);
};

/** The exit counts, not the end of its pipes: another process that has them open is killed, not waited for. */
const end = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve, reject) => {
    let clock: NodeJS.Timeout | undefined;
    child.on('error', (error) => {
      // One that was started reports failed signals here.
      if (child.pid === undefined) reject(error);
    });
    child.on('exit', () => {
      clock = setTimeout(() => {
        killGroup(child.pid);
        for (const pipe of child.stdio) pipe?.destroy();
      }, patienceMs);
    });
    child.on('close', (code) => {
      clearTimeout(clock);
      resolve(code);
    });
  });

export const killGroup = (leader: number | undefined): void => {
  if (leader !== undefined) signal(-leader);
};

const signal = (id: number): void => {
  try {
    process.kill(id, 'SIGKILL');
  } catch {
    // It has exited.
  }
};
