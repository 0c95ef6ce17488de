/**
 * Spawns a program as the leader of a process group, and kills the group as a whole.
 *
 * bubblewrap is two processes: a monitor, and the one that becomes ffmpeg. Killing the monitor alone, while it sets up
 * the other, leaves that one waiting for it forever with the pipes open. So the other one is killed, and the monitor
 * reaps it and exits. What is left after a moment is killed by its group: that reaches every member at once, even one
 * that is just being forked, and the seccomp filter keeps ffmpeg from leaving the group.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
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
  kill(): void;
}

/** For a monitor to exit, and for what pipes still hold after the exit. */
const patienceMs = 1000;

export const spawnGroup = (command: Command, { stdin, stdout, env }: GroupOptions): ProcessGroup => {
  const { file, arguments: words, filter, isMonitor = false } = command;
  const descriptor = filter === undefined ? undefined : openSync(filter, 'r');
  try {
    const pipes: StdioOptions = [stdin, stdout, 'pipe'];
    const stdio: StdioOptions = isMonitor ? [...pipes, descriptor ?? 'ignore', 'pipe'] : pipes;
    const child: ChildProcess = spawn(file, words, { shell: false, detached: true, env, stdio });
    const kill = isMonitor ? killerOfMonitored(child) : () => killGroup(child.pid);
    return { child, kill, ended: end(child) };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
};

/** One that is killed before the monitor has reported it is killed when it does. */
const killerOfMonitored = (child: ChildProcess): (() => void) => {
  let report = '';
  let isKilled = false;
  let clock: NodeJS.Timeout | undefined;
  const killMonitored = (): void => {
    const [, id] = /"child-pid": (\d+)\D/.exec(report) ?? [];
    if (isKilled && id !== undefined && child.exitCode === null) signal(Number(id));
  };
  (child.stdio[4] as Readable | undefined)?.setEncoding('latin1').on('data', (text: string) => {
    report += text;
    killMonitored();
  });
  child.on('close', () => clearTimeout(clock));
  return () => {
    if (isKilled) return;
    isKilled = true;
    clock = setTimeout(() => killGroup(child.pid), patienceMs);
    killMonitored();
  };
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
