/**
 * Walks the path of docs/get-started.md in an empty folder: `npm run stranger`. It installs the packed tarball from the
 * registry, and runs every block of the page.
 */
import { strict as assert } from 'node:assert';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCommandLine } from '../command-line.ts';
import { type Block, readMarkdown, root } from '../docs/markdown.ts';
import { eventually, patiently } from '../eventually.ts';
import { end, freePort } from '../services/child.ts';

const { values } = readCommandLine({
  command: 'npm run stranger',
  summary: 'Walks the path of docs/get-started.md in an empty folder, with the packed tarball.',
  options: { keep: { help: 'keep the folder' } },
});

const page = readMarkdown('docs/get-started.md');
const unread = new Set(page.blocks.filter(({ label }) => label !== ''));
const folder = mkdtempSync(join(tmpdir(), 'sluice-stranger-'));
const [port, enginePort] = [await freePort(), await freePort()];
const adminPort = await freePort();
const children: ChildProcess[] = [];

/** With the ports of this run in place of those that the page shows. */
const block = (language: string, label: string): string => {
  const found = page.blocks.find((one): one is Block => one.language === language && one.label === label);
  if (found === undefined) throw new Error(`docs/get-started.md has no block "${language} ${label}"`);
  unread.delete(found);
  return found.text
    .replaceAll('127.0.0.1:8787', `127.0.0.1:${port}`)
    .replaceAll('127.0.0.1:9787', `127.0.0.1:${adminPort}`)
    .replaceAll('127.0.0.1:9000', `127.0.0.1:${enginePort}`)
    .replaceAll('--port 9000', `--port ${enginePort}`);
};

let key = '';
const environment = (): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  PORT: String(port),
  SLUICE_ADMIN_PORT: String(adminPort),
  SLUICE_KEY: key,
});

/** Standard output of a script that has to end well. */
const run = (script: string, seconds = 60): string => {
  const { status, stdout, stderr, error } = spawnSync('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: folder,
    env: environment(),
    encoding: 'utf8',
    timeout: patiently(seconds * 1000),
  });
  if (status !== 0) throw new Error(`${script}\nended with ${status ?? error?.message}\n${stdout}${stderr}`);
  return stdout;
};

/** What it prints grows while it runs. */
const start = (script: string): { readonly child: ChildProcess; readonly printed: () => string } => {
  // The program itself gets the signals, not a shell or npx in between.
  const [program = '', ...args] = script
    .trim()
    .replace(/^npx sluice /, 'node_modules/.bin/sluice ')
    .split(/\s+/);
  const child = spawn(program, args, {
    cwd: folder,
    env: environment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  let printed = '';
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    printed += text;
  });
  return { child, printed: () => printed };
};

const field = (printed: string, name: string): string | undefined =>
  new RegExp(`^ {2}${name} +(\\S+)\\n`, 'm').exec(printed)?.[1];

const startGateway = async (): Promise<{ readonly child: ChildProcess; readonly printed: string }> => {
  const { child, printed } = start(block('sh', 'serve'));
  await eventually(
    () => /^ {2}admin API .*\n[\s\S]*messages/m.test(printed()),
    'the gateway prints its address',
    60,
  );
  return { child, printed: printed() };
};

const steps: readonly (readonly [string, () => Promise<void> | void])[] = [
  [
    'pack and install',
    () => {
      const packed = spawnSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
        cwd: root,
        encoding: 'utf8',
      });
      assert.equal(packed.status, 0, packed.stderr);
      const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
      const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
        devDependencies: Record<string, string>;
      };
      const script = block('sh', 'install');
      assert.match(script, new RegExp(filename.replaceAll('.', '\\.')), 'the page names the packed version');
      run(
        script.replace(
          / openai$/m,
          ` openai@${devDependencies.openai} --no-audit --no-fund --prefer-offline`,
        ),
        600,
      );
    },
  ],
  [
    'serve, and stream with curl and the OpenAI SDK',
    async () => {
      const { printed } = await startGateway();
      key = field(printed, 'key') ?? '';
      assert.match(key, /^sk-sluice-/, printed);
      assert.match(run(block('sh', 'curl')), /data: .*"delta".*\n[\s\S]*data: \[DONE\]/);
      writeFileSync(join(folder, 'stream.mjs'), block('js', 'stream'));
      assert.match(run(block('sh', 'stream')), /You asked about tides/);
    },
  ],
  [
    'an engine of its own',
    async () => {
      const { printed } = start(block('sh', 'simulate'));
      await eventually(() => printed().includes('listens on'), 'the engine is there', 60);
      writeFileSync(join(folder, 'sluice.yaml'), block('yaml', 'config'));
      const [gateway] = children;
      if (gateway !== undefined) await end(gateway, 'SIGTERM');
      await startGateway();
      assert.match(run(block('sh', 'engine')), /You asked about tides/);
    },
  ],
  [
    'a key with a budget',
    async () => {
      const output = run(`${block('sh', 'key')}\nprintf '\\nkey=%s' "$SLUICE_KEY"`);
      assert.match(output, /You asked about tides/);
      const limited = /\nkey=(\S+)$/.exec(output)?.[1] ?? '';
      assert.match(limited, /^sk-sluice-/);
      // Four answers of 30,000 tokens could cost 0.18 USD. A running gateway knows a new budget within five seconds.
      const error = await eventually(async () => {
        const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${limited}`, 'content-type': 'application/json' },
          body: JSON.stringify({
            model: 'acme/writer',
            max_tokens: 30_000,
            n: 4,
            messages: [{ role: 'user', content: '/sim tokens=4\nHello' }],
          }),
        });
        const body = (await response.json()) as { error?: { message: string } };
        return response.status === 429 ? body.error : undefined;
      }, 'the budget refuses a request');
      assert.match(error.message, /budget bud_\w+ of 0\.05 USD a day/);
    },
  ],
  [
    'console and metrics',
    async () => {
      const console_ = await fetch(`http://127.0.0.1:${adminPort}/`, { headers: { accept: 'text/html' } });
      assert.equal(console_.status, 200);
      assert.match(await console_.text(), /<script[^>]+src=/);
      const output = await eventually(() => {
        const text = run(block('sh', 'metrics'));
        return /^acme\/writer +(?:[2-9]|\d\d)/m.test(text) ? text : undefined;
      }, 'the usage of both requests is in the ledger');
      assert.match(
        output,
        /sluice_operations_total\{[^}]*model="acme\/writer"[^}]*outcome="completed"[^}]*\} (?:[2-9]|\d\d)/,
      );
    },
  ],
  [
    'every marked block was used',
    () =>
      assert.deepEqual(
        [...unread].map(({ language, label }) => `${language} ${label}`),
        [],
      ),
  ],
];

let failed = false;
try {
  for (const [name, step] of steps) {
    const begun = performance.now();
    await step();
    console.log(`ok - ${name} (${((performance.now() - begun) / 1000).toFixed(1)} s)`);
  }
} catch (error) {
  failed = true;
  console.log(`not ok - ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
} finally {
  for (const child of children) await end(child, 'SIGTERM');
  if (values.keep) console.log(`folder: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}
console.log(`stranger's path: ${failed ? 'failed' : `walked, ${steps.length} steps`}`);
process.exitCode = failed ? 1 : 0;
