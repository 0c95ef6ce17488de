/** Tests that the process that reads clients' files reaches no network, no other file, and has limits. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { lastValueFrom, NEVER, toArray } from 'rxjs';
import t from 'tap';
import { createCodec } from '../../src/codec/codec.ts';
import { spawnGroup } from '../../src/codec/process-group.ts';
import { findProvider } from '../../src/codec/provider.ts';
import { confinement } from '../../src/codec/sandbox.ts';
import { seccompFilter } from '../../src/codec/seccomp-filter.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import { ffmpegs } from '../audio/sounds.ts';
import { eventually } from '../eventually.ts';

const home = mkdtempSync(join(tmpdir(), 'sluice-test-'));
const secret = join(home, 'secret');
writeFileSync(secret, 'the key of another tenant'.repeat(100));
t.teardown(() => rmSync(home, { recursive: true }));

let connections = 0;
const server = createServer((socket) => {
  connections++;
  socket.on('error', () => undefined).end(Buffer.alloc(4096));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
t.teardown(() => server.close());
const { port } = server.address() as AddressInfo;

const provider = await findProvider();
t.comment(`${provider.provider} ${provider.version} ${provider.sandbox} ${provider.notes.join('; ')}`);

t.test('ffmpeg as the codec runs it', async (t) => {
  const codec = createCodec();
  t.teardown(() => codec.close());
  const read = (...inputArguments: readonly string[]) =>
    lastValueFrom(
      codec
        .convert(
          undefined,
          // One in WebAssembly waits for a connection that nobody makes.
          { inputArguments, arguments: ['-f', 's16le'], maxBytes: 1e6, timeoutMs: 8000 },
          new Backpressure(),
        )
        .pipe(toArray()),
    ).then(Buffer.concat);
  const raw = ['-f', 's16le', '-ar', '8000', '-ac', '1'];
  if (provider.sandbox === 'none') {
    t.ok((await read(...raw, '-i', `file:${secret}`)).length > 0, 'this system confines nothing');
    return;
  }
  for (const path of [secret, '/etc/passwd', '/proc/self/environ', '/proc/1/cmdline'])
    await t.rejects(read(...raw, '-i', `file:${path}`), path);
  for (const address of [`tcp://127.0.0.1:${port}`, `http://127.0.0.1:${port}/`])
    await t.rejects(read(...raw, '-i', address), address);
  t.equal(connections, 0);

  const target = join(home, 'written');
  const outputs = ['-f', 's16le', `file:${target}`, '-f', 's16le'];
  const lavfi = ['-f', 'lavfi', '-i', 'sine=duration=0.1'];
  await lastValueFrom(
    codec.convert(
      undefined,
      { inputArguments: lavfi, arguments: outputs, maxBytes: 1e6, timeoutMs: 30_000 },
      new Backpressure(),
    ),
    { defaultValue: undefined },
  ).catch(() => undefined);
  t.notOk(existsSync(target), 'nothing is written elsewhere');
});

t.test('limits', { skip: process.platform !== 'linux' && 'of Linux' }, async (t) => {
  const codec = createCodec();
  const conversion = {
    inputArguments: ['-f', 's16le', '-ar', '8000', '-ac', '1'],
    arguments: ['-f', 's16le'],
    maxBytes: 1024 * 1024,
    timeoutMs: 60_000,
  };
  const running = codec.convert(NEVER, conversion, new Backpressure()).subscribe({ error: () => undefined });
  t.teardown(() => running.unsubscribe());
  const limits = (): string => {
    const [id] = ffmpegs();
    return id === undefined ? '' : readFileSync(`/proc/${id}/limits`, 'latin1');
  };
  await eventually(() => /^Max cpu time +65 /m.test(limits()), 'its limits are set');
  const memory = provider.sandbox === 'wasm' ? 'data size' : 'address space';
  t.match(limits(), new RegExp(`^Max ${memory} +${2048 * 1024 * 1024} `, 'm'));
  t.match(limits(), new RegExp(`^Max file size +${2 * 1024 * 1024} `, 'm'));
  t.match(limits(), /^Max core file size +0 /m);
  t.match(limits(), /^Max open files +256 /m);
  const [id] = ffmpegs();
  // The loader opens libraries for a moment: what stays open counts.
  if (provider.sandbox !== 'wasm')
    await eventually(
      () => readdirSync(`/proc/${id}/fd`).join() === '0,1,2',
      'its three pipes and nothing else',
    );
  running.unsubscribe();
  await codec.close();
});

const text = (source: Readable | null): (() => string) => {
  let all = '';
  source?.setEncoding('utf8').on('data', (more: string) => {
    all += more;
  });
  return () => all;
};

/** What a decoder could do once it runs an attacker's code; each line that it prints succeeded. */
const attack = `
  const { readFileSync, writeFileSync, readdirSync } = require('node:fs');
  const { connect } = require('node:net');
  const { spawnSync } = require('node:child_process');
  const { setPriority } = require('node:os');
  const attempt = (what, work) => { try { work(); console.log(what); } catch {} };
  attempt('allowed', () => readFileSync(process.argv[1]));
  attempt('output', () => writeFileSync(process.argv[2], 'mine'));
  attempt('secret', () => readFileSync(process.argv[3]));
  attempt('passwd', () => readFileSync('/etc/passwd'));
  attempt('environment', () => readFileSync('/proc/' + process.argv[5] + '/environ'));
  attempt('write', () => writeFileSync(process.argv[3] + '2', 'mine'));
  attempt('input', () => writeFileSync(process.argv[1], 'mine'));
  attempt('signal', () => process.kill(Number(process.argv[5]), 0));
  attempt('priority', () => setPriority(Number(process.argv[5]), 1));
  attempt('session', () => {
    const { status } = spawnSync('/usr/bin/setsid', [process.execPath, '-v'], { stdio: 'ignore' });
    if (status !== 0) throw new Error('it stays in its session');
  });
  connect(Number(process.argv[4]), '127.0.0.1', () => process.exit(console.log('connected'))).on('error', () => undefined);
`;

for (const sandbox of ['none', 'bubblewrap', 'landlock'] as const)
  t.test(`a program of an attacker's: ${sandbox}`, async (t) => {
    const folder = join(home, sandbox);
    const output = join(folder, 'run', 'output');
    mkdirSync(join(folder, 'run'), { recursive: true });
    const [input, filter] = [join(folder, 'input'), join(folder, 'filter')];
    writeFileSync(input, 'input');
    writeFileSync(filter, seccompFilter() ?? '');
    // Node.js reserves more addresses than ffmpeg.
    const build = confinement(sandbox, process.execPath, 1024 * 1024);
    if (build === undefined) {
      t.pass('not on this system', { skip: true });
      return;
    }
    const limits = { input, output, filter, maxBytes: 1e6, timeoutMs: 30_000 };
    const run = async (...words: readonly string[]) => {
      const { child, ended, kill } = spawnGroup(build(words, limits), {
        stdin: 'ignore',
        stdout: 'pipe',
        // A file that Landlock does not let it read.
        env: { OPENSSL_CONF: '/dev/null' },
      });
      const clock = setTimeout(kill, 60_000);
      const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
      await ended;
      clearTimeout(clock);
      return { stdout: stdout(), stderr: stderr() };
    };
    const alive = await run('-p', '1');
    if (alive.stdout !== '1\n') {
      t.pass(`not allowed here: ${alive.stderr.trim().slice(-200)}`, { skip: true });
      return;
    }
    const begun = performance.now();
    await run('-e', leftBehind, process.execPath);
    t.ok(performance.now() - begun < 30_000, 'a process that stays behind with the pipes is not waited for');
    await eventually(() => !commandLines().some((line) => line.includes('stays behind')), 'it is killed');

    const words = [input, output, secret, String(port), String(process.pid)];
    const { stdout } = await run('-e', attack, ...words);
    const done = stdout.trim().split('\n').sort();
    if (sandbox === 'none') {
      const everything = [
        'allowed',
        'connected',
        'environment',
        'input',
        'output',
        'passwd',
        'priority',
        'secret',
        'session',
        'signal',
        'write',
      ];
      t.same(done, everything, 'without a sandbox all of it works');
      return;
    }
    t.same(done, ['allowed', 'output']);
    t.equal(readFileSync(input, 'utf8'), 'input');
    t.equal(readFileSync(output, 'utf8'), 'mine');
    t.same(readdirSync(folder).sort(), ['filter', 'input', 'run']);
  });

/** Exits, and leaves a process that keeps its pipes open. */
const leftBehind = `
  require('node:child_process').spawn(process.argv[1], ['-e', 'setTimeout(() => "stays behind", 60_000)'], {
    stdio: 'inherit',
  });
  setTimeout(() => process.exit(), 200);
`;

const commandLines = (): readonly string[] =>
  process.platform !== 'linux'
    ? []
    : readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .map((id) => {
          try {
            return readFileSync(`/proc/${id}/cmdline`, 'latin1');
          } catch {
            // It ended while we looked.
            return '';
          }
        });
