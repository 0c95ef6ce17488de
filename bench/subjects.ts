/** Starts the subjects of `subjects.json`, each as a process on its own port. */
import { type ChildProcess, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { buildParts } from './build.ts';
import type { Target } from './load/request.ts';
import { processTree } from './measure.ts';
import { eventually, freePort, nextMessage, start, stop, wordsOf } from './processes.ts';

/** An entry. Strings may contain {port}, {engine} (its port), {bench}, {built}, {root}, {folder} (its own, empty) and {installed}. */
export interface SubjectRow {
  readonly name: string;
  readonly what: string;
  /** Runs only when selected by `--peer`. */
  readonly peer?: boolean;
  /** A package.json to install outside this project. */
  readonly install?: { readonly dependencies: Readonly<Record<string, string>> } & Readonly<
    Record<string, unknown>
  >;
  /** Absent: the engine itself. */
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Files of its folder by name, written as JSON. */
  readonly files?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
  readonly model?: string;
  /** Features besides chat that scenarios need. */
  readonly speaks?: readonly string[];
}

export interface Subject {
  readonly name: string;
  readonly speaks: readonly string[];
  readonly target: Target;
  /** Current: some processes are started by the first request that needs them. */
  readonly pids: readonly number[];
  loopDelay(): Promise<LoopDelay | undefined>;
  startProfile(): Promise<void>;
  /** Writes the samples since the start as a `.cpuprofile` file. */
  stopProfile(file: string): Promise<void>;
  stop(): Promise<void>;
}

export interface LoopDelay {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

const folders = new Set<string>();
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const bench = import.meta.dirname;
const root = path.dirname(bench);
const readyWithin = 30;

export const readRows = (file = path.join(bench, 'subjects.json')): SubjectRow[] =>
  JSON.parse(readFileSync(file, 'utf8')) as SubjectRow[];

const installFolder = (row: SubjectRow): string => path.join(os.tmpdir(), 'sluice-bench-peers', row.name);

/** Installs a peer into a temporary folder, once per version. */
export const install = (row: SubjectRow): void => {
  if (row.install === undefined) return;
  const folder = installFolder(row);
  const manifest = JSON.stringify({ name: `bench-${row.name}`, private: true, ...row.install });
  const marker = path.join(folder, 'installed.json');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === manifest) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), manifest);
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
  });
  writeFileSync(marker, manifest);
};

export const startSubject = async (row: SubjectRow, enginePort: number): Promise<Subject> => {
  const port = row.command === undefined ? enginePort : await freePort();
  const folder = mkdtempSync(path.join(os.tmpdir(), `sluice-bench-${row.name}-`));
  folders.add(folder);
  const fill = (text: string): string =>
    text
      .replaceAll('{port}', String(port))
      .replaceAll('{engine}', String(enginePort))
      .replaceAll('{bench}', bench)
      .replaceAll('{built}', buildParts())
      .replaceAll('{root}', root)
      .replaceAll('{folder}', folder)
      .replaceAll('{installed}', installFolder(row));
  const fillAll = (texts: Readonly<Record<string, string>> = {}): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fill(text)]));
  for (const [name, content] of Object.entries(row.files ?? {})) {
    writeFileSync(path.join(folder, name), fill(JSON.stringify(content, null, 2)));
  }
  const child =
    row.command === undefined
      ? undefined
      : start({ command: row.command.map(fill), folder: root, environment: fillAll(row.environment) });
  const target: Target = {
    port,
    path: row.path ?? '/v1/chat/completions',
    headers: fillAll(row.headers),
    model: row.model ?? 'bench',
  };
  const end = async (): Promise<void> => {
    if (child !== undefined) await stop(child);
    rmSync(folder, { recursive: true, force: true });
    folders.delete(folder);
  };
  if (!(await ready(target, child))) {
    const words = child === undefined ? '' : wordsOf(child);
    await end();
    throw new Error(`${row.name} does not respond with 200: ${words}`);
  }
  return {
    name: row.name,
    speaks: row.speaks ?? [],
    target,
    get pids() {
      return child?.pid === undefined ? [] : processTree(child.pid);
    },
    loopDelay: async () => (await ask<{ loopDelay: LoopDelay }>(child, { ask: 'loop-delay' }))?.loopDelay,
    startProfile: async () => {
      await ask(child, { ask: 'start-profile' });
    },
    stopProfile: async (file) => {
      await ask(child, { ask: 'stop-profile', file });
    },
    stop: end,
  };
};

const ready = (target: Target, child: ChildProcess | undefined): Promise<boolean> =>
  eventually(async () => {
    if (child !== undefined && child.exitCode !== null) return false;
    return (await tryOnce(target)) === 200;
  }, readyWithin);

const tryOnce = (target: Target): Promise<number> =>
  new Promise((resolve) => {
    const request = http.request(
      {
        host: '127.0.0.1',
        port: target.port,
        path: target.path,
        method: 'POST',
        agent: false,
        timeout: 2000,
        headers: { 'content-type': 'application/json', ...target.headers },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(0));
    request.end(JSON.stringify({ model: target.model, messages: [{ role: 'user', content: 'Ready?' }] }));
  });

/** Queries the probe; a gateway without one does not reply. */
const ask = async <Answer>(
  child: ChildProcess | undefined,
  question: { ask: string; file?: string },
): Promise<Answer | undefined> => {
  if (child?.connected !== true) return undefined;
  child.send(question);
  return nextMessage<Answer>(child, 10).catch(() => undefined);
};
