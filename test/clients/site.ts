/** Gives a client its folder, its environment and the blocks of docs/clients.md, and collects its checks. */
import { symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Block, documentedOrigin } from './blocks.ts';
import type { CheckResult, Client, Output, RunOptions, Site } from './client.ts';
import { runProgram, tail } from './processes.ts';

export interface Place {
  readonly origin: string;
  readonly key: string;
  readonly folder: string;
  readonly installed: string;
  /** Those of this client. */
  readonly blocks: readonly Block[];
  /** Aborts when the time of the client is over. */
  readonly signal: AbortSignal;
}

const interpreters: Readonly<Record<string, { readonly program: string; readonly ending: string }>> = {
  sh: { program: 'bash', ending: 'sh' },
  python: { program: 'python', ending: 'py' },
  js: { program: process.execPath, ending: 'mjs' },
};

export const openSite = (client: Client, place: Place): { site: Site; results: CheckResult[] } => {
  const { origin, key, folder, installed, blocks, signal } = place;
  const url = `${origin}/v1`;
  const results: CheckResult[] = [];
  const unread = new Set(blocks);
  const modules = join(installed, 'node_modules');
  if (client.registry === 'npm') symlinkSync(modules, join(folder, 'node_modules'));
  const programs = client.registry === 'npm' ? join(modules, '.bin') : join(installed, 'bin');
  const environment = {
    PATH: [programs, process.env.PATH].join(delimiter),
    HOME: folder,
    LANG: 'C.UTF-8',
    // Scripts of the tree are imported: nothing is written beside them.
    PYTHONDONTWRITEBYTECODE: '1',
    SLUICE_URL: url,
    SLUICE_KEY: key,
    // Clients also send telemetry and look for updates: nothing but this machine can be reached.
    HTTP_PROXY: 'http://127.0.0.1:9',
    HTTPS_PROXY: 'http://127.0.0.1:9',
    NO_PROXY: '127.0.0.1,localhost',
    http_proxy: 'http://127.0.0.1:9',
    https_proxy: 'http://127.0.0.1:9',
    no_proxy: '127.0.0.1,localhost',
  };

  const run = async (program: string, args: readonly string[], options: RunOptions = {}): Promise<Output> => {
    const { env = {}, seconds = 60, input = '', cwd = folder, allowFailure = false } = options;
    const output = await runProgram({
      program,
      args,
      env: { ...environment, ...env },
      cwd,
      seconds,
      input,
      signal,
    });
    if (output.code !== 0 && !allowFailure)
      throw new Error(`${program} ended with ${output.code ?? 'a signal'}\n${tail(output)}`);
    return output;
  };

  const find = (name: string): Block => {
    const block = blocks.find((one) => one.name === name);
    if (block === undefined) throw new Error(`docs/clients.md has no block ${name} of ${client.name}`);
    unread.delete(block);
    return { ...block, text: block.text.replaceAll(documentedOrigin, origin) };
  };

  const site: Site = {
    origin,
    url,
    key,
    folder,
    installed,
    run,
    async check(name, work) {
      const begun = performance.now();
      const problem = await work().then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
      );
      results.push({ name, seconds: (performance.now() - begun) / 1000, problem });
    },
    report: (name, problem, seconds = 0) => void results.push({ name, seconds, problem }),
    block: (name) => find(name).text,
    runBlock(name, options) {
      const { language, text } = find(name);
      const interpreter = interpreters[language];
      if (interpreter === undefined) throw new Error(`no program runs a block of ${language}`);
      // The prefix keeps Python from importing it in place of a package of that name.
      const file = join(folder, `block-${name}.${interpreter.ending}`);
      writeFileSync(file, text);
      const args = language === 'sh' ? ['-euo', 'pipefail', file] : [file];
      return run(interpreter.program, args, options);
    },
  };
  return {
    site,
    get results() {
      const left = [...unread].map(({ name }) => ({
        name: `block ${name}`,
        seconds: 0,
        problem: 'docs/clients.md has this block, and no check ran it',
      }));
      return [...results, ...left];
    },
  };
};
