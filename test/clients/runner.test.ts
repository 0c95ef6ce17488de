/** Tests the runner of real clients without any: pinned versions, blocks of the page, limits of programs. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { eventually } from '../eventually.ts';
import { documentedOrigin, readBlocks } from './blocks.ts';
import type { Client, Site } from './client.ts';
import { readClients } from './clients.ts';
import { readCommand, verdictOf } from './command.ts';
import { fetchClient } from './fetch.ts';
import { runProgram } from './processes.ts';
import { openSite } from './site.ts';
import { tableOf } from './table.ts';

const client: Client = { name: 'Some', registry: 'pypi', packages: { some: '1.2.3' }, run: async () => {} };

t.test('every client has exact versions, and every block of the page a client', async (t) => {
  const clients = await readClients();
  t.ok(clients.length > 0);
  for (const { slug, client } of clients)
    for (const [name, version] of Object.entries(client.packages))
      t.match(version, /^\d+(\.\d+)+([-.]?[a-z]+[\d.]*)?$/, `${slug}: ${name}`);
  const slugs = new Set(clients.map(({ slug }) => slug));
  t.same(
    readBlocks().filter(({ slug }) => !slugs.has(slug)),
    [],
  );
});

t.test('blocks are marked with client and name', async (t) => {
  const page = 'x\n```python some/chat\nprint(1)\n```\n\n```toml some/config\na = "b"\n```\n';
  t.same(readBlocks(page), [
    { slug: 'some', name: 'chat', language: 'python', text: 'print(1)\n' },
    { slug: 'some', name: 'config', language: 'toml', text: 'a = "b"\n' },
  ]);
  t.throws(() => readBlocks('```sh\nls\n```\n'), { message: /marked "sh", not "language client\/name"/ });
  t.throws(() => readBlocks('```sh a/b\n```\n```sh a/b\n```\n'), { message: /two blocks are marked a\/b/ });
});

t.test('a program is killed with what it started when its time is over', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-runner-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const begun = performance.now();
  const sleeping = runProgram({
    program: 'bash',
    args: ['-c', 'sleep 600 & echo $!; wait'],
    env: process.env,
    cwd: folder,
    seconds: 1,
  });
  const error = await sleeping.then(
    () => new Error('it was not killed'),
    (thrown: Error) => thrown,
  );
  t.match(error.message, /^bash was killed: it took longer than 1 s\n\d+/);
  t.ok(performance.now() - begun < 60_000);
  const grandchild = Number(error.message.split('\n')[1]);
  await eventually(() => !isRunning(grandchild), 'its child was killed too');
});

t.test('a site runs programs in a clean environment and reports each check', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-runner-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  process.env.SLUICE_TEST_LEAK = 'leaked';
  t.teardown(() => delete process.env.SLUICE_TEST_LEAK);
  const place = { origin: 'http://127.0.0.1:1', key: 'sk', folder, installed: folder };
  const signal = new AbortController().signal;
  const blocks = readBlocks(
    `\`\`\`sh some/used\necho ${documentedOrigin}/v1 $SLUICE_KEY $HOME \${SLUICE_TEST_LEAK:-clean}\n\`\`\`\n\`\`\`sh some/left\nls\n\`\`\`\n`,
  );
  const opened = openSite(client, { ...place, blocks, signal });
  const { site }: { site: Site } = opened;
  t.equal((await site.runBlock('used')).stdout, `http://127.0.0.1:1/v1 sk ${folder} clean\n`);
  await site.check('passes', async () => {});
  await site.check('fails', async () => {
    await site.run('bash', ['-c', 'echo why; exit 3']);
  });
  t.equal((await site.run('bash', ['-c', 'exit 3'], { allowFailure: true })).code, 3);
  t.throws(() => site.block('none'), { message: 'docs/clients.md has no block none of Some' });
  t.match(opened.results, [
    { name: 'passes', problem: undefined },
    { name: 'fails', problem: /bash ended with 3\nwhy/ },
    { name: 'block left', problem: /no check ran it/ },
  ]);
  const row = { slug: 'some', client, missing: undefined, results: opened.results, seconds: 1.4 };
  t.equal(
    tableOf([row, { ...row, missing: 'no python3' }]),
    [
      '| Client | Versions   | Outcome       | Seconds | Exercised |',
      '| ---    | ---        | ---           | ---     | --- |',
      '| Some   | some 1.2.3 | 2 of 3 failed | 1       | passes, fails, block left |',
      '| Some   | some 1.2.3 | skipped       | 1       | no python3 |',
    ].join('\n'),
  );
});

t.test('a client that cannot run here is left out with the reason', async (t) => {
  t.same(await fetchClient('some', { ...client, missing: () => 'needs a screen' }), {
    missing: 'needs a screen',
  });
});

t.test('what cannot be had is a failure unless it is allowed', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-runner-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const main = fileURLToPath(new URL(`./main${extname(import.meta.url)}`, import.meta.url));
  // No program is found: nothing can be installed.
  const run = (...args: string[]) =>
    runProgram({
      program: process.execPath,
      args: [...process.execArgv, main, ...args],
      env: { ...process.env, PATH: folder, SLUICE_CLIENTS: join(folder, 'cache') },
      cwd: process.cwd(),
      seconds: 120,
    });
  const strict = await run('--fetch', 'requests', 'codex');
  t.equal(strict.code, 1, strict.stderr);
  t.match(strict.stdout, 'cannot be had here: codex, requests (--allow-missing leaves them out)');
  const lenient = await run('--fetch', '--allow-missing', 'requests');
  t.equal(lenient.code, 0, lenient.stderr);
  t.match(lenient.stdout, 'left out: requests');
});

t.test('the command line of a runner', async (t) => {
  const command = readCommand('npm run some', ['some', '--record'], ['some', 'other'], ['record']);
  t.match(command, { names: ['some'], onlyFetch: false, allowMissing: false });
  t.ok(command.has('record'));
  t.throws(() => readCommand('npm run some', ['--record'], ['some']), {
    code: 'ERR_PARSE_ARGS_UNKNOWN_OPTION',
  });
  t.throws(() => readCommand('npm run some', ['none'], ['some', 'other']), {
    message: 'there is no none; there are some, other',
  });
  t.same(verdictOf(command, { failed: [], missing: [] }), { code: 0, words: [] });
  t.same(verdictOf(command, { failed: ['some'], missing: [] }), { code: 1, words: ['failed: some'] });
  t.same(verdictOf({ ...command, allowMissing: true }, { failed: ['some'], missing: ['other'] }), {
    code: 1,
    words: ['failed: some', 'left out: other'],
  });
});

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
