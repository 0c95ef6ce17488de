/** Runs the clients of the streaming guide: each prints the whole answer, though its connection is lost. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { patiently } from '../eventually.ts';
import { startGateway, type TestGateway } from '../gateway.ts';
import { onlyLong } from '../long.ts';
import { ask, contentOf, eventsOf, say } from '../streams/client.ts';

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/build\/$/, '/');
const guide = readFileSync(join(root, 'docs/streaming.md'), 'utf8');
const blocks = (language: string): string[] =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code = '']) => code,
  );

const run = async (
  t: Test,
  { url, key }: TestGateway,
  name: string,
  code: string,
  command: string,
  words: string[],
) => {
  // Below the sources, where Node finds packages.
  const folder = mkdtempSync(join(root, '.streaming-guide-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, name), code.replaceAll('8787', new URL(url).port));
  const child = spawn(command, [...words, name], {
    cwd: folder,
    env: { ...process.env, SLUICE_KEY: key },
    timeout: patiently(60_000),
  });
  let [output, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (piece) => {
    output += piece;
  });
  child.stderr.setEncoding('utf8').on('data', (piece) => {
    errors += piece;
  });
  const code_ = await new Promise((resolve) => child.once('close', resolve));
  t.equal(code_, 0, errors);
  return { output, errors, folder };
};

t.test(
  'the clients of the streaming guide',
  { skip: process.platform === 'win32' ? 'needs bash' : onlyLong },
  async (t) => {
    const gateway = await startGateway();
    t.teardown(() => gateway.stop());
    const body = {
      model: 'sluice/chat',
      messages: say('/sim tokens=40 rate=max\nHow do tides work?'),
      stream: true,
    };
    const answer = contentOf(eventsOf((await ask(gateway, 'POST', '/chat/completions', { body })).text));
    const resumed = (): number => gateway.ports.streams.stats().resumed;
    const node = [process.execPath, ['--import', import.meta.resolve('tsx')]] as const;

    t.test('curl', async (t) => {
      const [block = ''] = blocks('sh');
      // On a slow machine it leaves later, and the stream takes longer.
      const code = block
        .replace('-m 1 ', `-m ${patiently(1)} `)
        .replace('rate=20', `rate=${Math.ceil(20 / patiently(1))}`);
      const { output, folder } = await run(t, gateway, 'client.sh', code, 'bash', ['-eu']);
      const first = eventsOf(readFileSync(join(folder, 'first.txt'), 'utf8'));
      t.equal(contentOf([...first, ...eventsOf(output)]), answer);
      t.ok(first.length > 1 && eventsOf(output).length > 1, 'in two parts');
    });

    t.test('fetch', async (t) => {
      const before = resumed();
      const [code = ''] = blocks('ts');
      const { output, errors } = await run(t, gateway, 'client.mts', code, node[0], [...node[1]]);
      t.equal(output, `${answer}\n`);
      t.match(errors, /\(lost: /);
      t.equal(resumed(), before + 1);
    });

    const hasPython = spawnSync('python3', ['--version']).status === 0;
    t.test('Python', { skip: !hasPython && 'no python3' }, async (t) => {
      const before = resumed();
      const [code = ''] = blocks('python');
      const { output } = await run(t, gateway, 'client.py', code, 'python3', []);
      t.equal(output.replace(/\n\(lost: .*\)\n/g, ''), `${answer}\n`);
      t.equal(resumed(), before + 1);
    });

    t.test("OpenAI's SDK", async (t) => {
      const before = resumed();
      const [, code = ''] = blocks('ts');
      const { output } = await run(t, gateway, 'client.mts', code, node[0], [...node[1]]);
      t.equal(output, `${answer}\n`);
      t.equal(resumed(), before + 1);
    });
  },
);
