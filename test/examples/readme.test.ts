/** Runs the clients of the README against a gateway on the simulator, and checks what its text refers to. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { readBlocks } from '../clients/blocks.ts';
import { patiently } from '../eventually.ts';
import { startGateway } from '../gateway.ts';

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/build\/$/, '/');
const readme = readFileSync(`${root}README.md`, 'utf8');
const blocks = (language: string): readonly string[] =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, text = '']) => text,
  );

t.test('its clients run', { skip: process.platform === 'win32' && 'needs bash' }, async (t) => {
  const gateway = await startGateway();
  t.teardown(() => gateway.stop());
  const env = { ...process.env, SLUICE_URL: gateway.url, SLUICE_KEY: gateway.key };
  const output = (program: string, args: readonly string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      execFile(program, args, { env, cwd: root, timeout: patiently(60_000) }, (error, out, err) =>
        error === null ? resolve(out) : reject(new Error(`${error.message}\n${err}`)),
      );
    });

  const curl = blocks('sh').find((text) => text.startsWith('curl ')) ?? '';
  t.match(await output('bash', ['-euc', curl]), /^data: \{.*"delta":.*\n\ndata: \[DONE\]\n\n$/s, 'curl');

  const [code = ''] = blocks('ts');
  // Beside the project's packages, which it imports.
  const file = `${root}test/examples/readme-${process.pid}.mts`;
  t.teardown(() => rmSync(file, { force: true }));
  writeFileSync(file, code.replace('http://127.0.0.1:8787', new URL(gateway.url).origin));
  t.match(await output(process.execPath, ['--import', 'tsx', file]), /\w.*\n\d+ tokens\n$/s, 'TypeScript');

  const python = readBlocks().find(({ slug, name }) => slug === 'openai-python' && name === 'chat');
  t.equal(blocks('python')[0], python?.text, 'Python: the block of docs/clients.md, which test:clients runs');
});

t.test('variables are set before they are used', async (t) => {
  for (const name of ['SLUICE_KEY', 'SLUICE_URL']) {
    const set = readme.indexOf(`export ${name}=`);
    t.ok(set > 0 && set < readme.indexOf(`$${name}`), name);
  }
});

t.test('what it links to exists', async (t) => {
  const links = [...readme.matchAll(/(?:\]\(|src="|srcset=")([^)"#]+)/g)].map(([, link = '']) => link);
  t.ok(links.length > 50);
  for (const link of new Set(links)) if (!link.startsWith('http')) t.ok(existsSync(root + link), link);
});
