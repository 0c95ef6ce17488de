/** Tests commands for people: a chat in the terminal, checks of files, completions, the first key after a failed start. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { loadConfig } from '../../src/config.ts';
import { startGateway as startRealGateway } from '../../src/main.ts';
import { silent } from '../engines/collect.ts';
import { startGateway } from '../gateway.ts';
import { onlyLong } from '../long.ts';

const main = fileURLToPath(new URL('../../bin/sluice.mjs', import.meta.url));

const run = async (command: readonly string[], environment: Record<string, string> = {}) => {
  const [file = '', ...words] = command;
  const child = spawn(file, words, {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code: child.exitCode, out, err };
};

const sluice = (environment: Record<string, string>, ...words: string[]) =>
  run([process.execPath, main, ...words], environment);

t.test('a chat in the terminal', async (t) => {
  const gateway = await startGateway();
  t.teardown(() => gateway.stop());
  const environment = { SLUICE_URL: gateway.url, SLUICE_KEY: gateway.key };
  t.match(await sluice(environment, 'chat', 'Say', 'hello', '--model', 'sluice/chat'), {
    code: 0,
    out: /\w+ \w+.*\n$/s,
    err: /^sluice\/chat: first token after \d+ ms, \d+ tokens in [\d.]+ s/,
  });
  t.match(await sluice({ ...environment, SLUICE_KEY: 'wrong' }, 'chat', 'Hello'), {
    code: 1,
    err: /answered 401: Invalid API key\n$/,
  });
  t.match(await sluice({ SLUICE_URL: 'http://127.0.0.1:2/v1', SLUICE_KEY: 'a' }, 'chat', 'Hello'), {
    code: 1,
    err: /^sluice chat: http:\/\/127\.0\.0\.1:2\/v1 cannot be reached: .*ECONNREFUSED/,
  });
});

t.test('files are checked, and every mistake is named', { skip: onlyLong }, async (t) => {
  const folder = t.testdir();
  const good = join(folder, 'good.yaml');
  const bad = join(folder, 'bad.yaml');
  const row =
    '{ engine: simulator, kind: chat, context_length: 4096, pricing: { prompt: "0", completion: "0" } }';
  writeFileSync(good, `models:\n  a/b: ${row}\n`);
  writeFileSync(bad, `models:\n  a/b: ${row.replace('4096', '-1').replace('kind', 'kin')}\n`);
  t.match(await sluice({}, 'config', 'check', good), {
    code: 0,
    out: /good\.yaml are valid: 1 model, 0 engines\.\n$/,
  });
  const refused = await sluice({ SLUICE_CONFIG: bad }, 'config', 'check');
  t.match(refused, { code: 1, out: '', err: /bad\.yaml has [2-9] mistakes\n$/ });
  t.match(refused.err, /did you mean kind/);
  t.match(await sluice({ PORT: 'x' }, 'config', 'check'), { code: 1, err: /PORT must be/ });
  t.match(await sluice({ SLUICE_CONFIG: good }, 'models'), {
    code: 0,
    out: /^MODEL +KIND.*\na\/b +chat +simulator +4096/,
  });
  const listed = JSON.parse((await sluice({ SLUICE_CONFIG: good }, 'models', '--json')).out);
  t.match(listed, [{ id: 'a/b', kind: 'chat' }]);
});

t.test('bash completes commands and options', async (t) => {
  const script = (await sluice({}, 'completion', 'bash')).out;
  const completed = async (...words: string[]) => {
    const line = `COMP_WORDS=(sluice ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _sluice; echo "\${COMPREPLY[@]}"`;
    return (await run(['bash', '-c', `${script}\n${line}`])).out.trim();
  };
  t.equal(await completed('su'), 'subscriptions');
  t.equal(await completed('keys', 're'), 'resume revoke');
  t.equal(await completed('keys', 'create', '--exp'), '--expires');
  t.equal(await completed('serve', '--p'), '--processes');
});

t.test('a start that fails does not create the first key', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as { port: number };
  const data = join(t.testdir(), 'data');
  // Without the port for metrics, which would be a thousand above a port that the system chose, free or not.
  const basis = { PORT: '0', SLUICE_ADMIN_PORT: 'off', SLUICE_DATA: data, SLUICE_EDGE: 'node' };
  const start = (environment: Record<string, string>) =>
    startRealGateway({ ...loadConfig({ ...basis, ...environment }), env: {} }, silent);
  await t.rejects(start({ PORT: String(port) }), { message: /taken/ });
  await t.rejects(start({ SLUICE_ADMIN_PORT: String(port) }), { message: /EADDRINUSE/ });
  const group = { PORT: '0', SLUICE_DATA: data, SLUICE_ADMIN_PORT: String(port) };
  t.match(await sluice(group, 'serve', '--processes', '2'), { code: 1, err: /EADDRINUSE/ });
  taken.close();
  const gateway = await start({});
  t.match(gateway.firstKey, /^sk-sluice-/);
  await gateway.stop();
  const again = await start({});
  t.equal(again.firstKey, undefined);
  await again.stop();
});
