/** Starts subjects, each as a process on its own port. */
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { buildParts } from './build.ts';
import type { Target } from './load/request.ts';
import { processTree } from './measure.ts';
import { type Installable, installedIn } from './peers/install.ts';
import { eventually, freePort, nextMessage, start, stop, wordsOf } from './processes.ts';

/**
 * An entry. Strings may contain {port}, {spare} (another port), {engine} (its port), {bench}, {built}, {root}, {folder}
 * (its own, empty) and {installed}.
 */
export interface SubjectRow extends Installable {
  readonly what: string;
  /** Runs only when selected by `--peer`. */
  readonly peer?: boolean;
  /** Measured once instead of in every round: so far from the others that it does not matter. */
  readonly once?: boolean;
  /** Absent: the engine itself. */
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Files of its folder by name: a list of lines, or a value that is written as JSON. */
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
/** LiteLLM imports for half a minute on a busy machine. */
const readyWithin = 120;

/** Sluice and what it is compared with; peers have `peer` set. */
export const allRows = (): SubjectRow[] => [
  ...readRows(path.join(bench, 'subjects.json')),
  ...readRows(path.join(bench, 'peers', 'peers.json')),
];

export const readRows = (file: string): SubjectRow[] =>
  JSON.parse(readFileSync(file, 'utf8')) as SubjectRow[];

export const startSubject = async (row: SubjectRow, enginePort: number): Promise<Subject> => {
  const port = row.command === undefined ? enginePort : await freePort();
  const spare = row.command === undefined ? 0 : await freePort();
  const folder = mkdtempSync(path.join(os.tmpdir(), `sluice-bench-${row.name}-`));
  folders.add(folder);
  const fill = (text: string): string =>
    text
      .replaceAll('{port}', String(port))
      .replaceAll('{spare}', String(spare))
      .replaceAll('{engine}', String(enginePort))
      .replaceAll('{bench}', bench)
      .replaceAll('{built}', buildParts())
      .replaceAll('{root}', root)
      .replaceAll('{folder}', folder)
      .replaceAll('{installed}', installedIn(row));
  const fillAll = (texts: Readonly<Record<string, string>> = {}): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fill(text)]));
  for (const [name, content] of Object.entries(row.files ?? {})) {
    const text = isLines(content) ? content.join('\n') : JSON.stringify(content, null, 2);
    writeFileSync(path.join(folder, name), `${fill(text)}\n`);
  }
  const child =
    row.command === undefined
      ? undefined
      : start({ command: row.command.map(fill), folder: root, environment: fillAll(row.environment) });
  const probed = row.command?.includes('{bench}/probe.mjs') === true ? child : undefined;
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
    loopDelay: async () => (await ask<{ loopDelay: LoopDelay }>(probed, { ask: 'loop-delay' }))?.loopDelay,
    startProfile: async () => {
      await ask(probed, { ask: 'start-profile' });
    },
    stopProfile: async (file) => {
      await ask(probed, { ask: 'stop-profile', file });
    },
    stop: end,
  };
};

const isLines = (content: unknown): content is string[] =>
  Array.isArray(content) && content.every((line) => typeof line === 'string');

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

/** Queries the probe of a subject that has one. */
const ask = async <Answer>(
  probed: ChildProcess | undefined,
  question: { ask: string; file?: string },
): Promise<Answer | undefined> => {
  if (probed?.connected !== true) return undefined;
  probed.send(question);
  return nextMessage<Answer>(probed, 10).catch(() => undefined);
};
