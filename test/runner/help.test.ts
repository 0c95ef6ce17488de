/** Tests that every script of package.json has help, and one clear line for an option that it does not know. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import t from 'tap';
import { patiently } from '../eventually.ts';
import { someOf } from '../long.ts';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
/** Those that build, lint or serve, also by programs of others; `sluice serve --help` is tested with the command. */
const others = /^(start|dev|build|docs|docs:serve|lint.*|format|pre.*|test|test:compile|test:long)$/;
const ours = Object.entries(scripts).filter(([name]) => !others.test(name));

/** The program of a script, as this process is run: compiled or from source. */
const programOf = (script: string): readonly [string, readonly string[]] => {
  const [first = '', ...rest] = script.split(' ');
  const [file = ''] = rest;
  if (first === 'node') return [process.execPath, rest];
  if (first !== 'tsx') return [first, []];
  if (extname(import.meta.url) === '.ts') return [process.execPath, ['--import', 'tsx', file]];
  return [process.execPath, [`build/${file.replace(/\.ts$/, '.js')}`]];
};

const run = (script: string, option: string): Promise<{ code: unknown; out: string; err: string }> => {
  const [program, args] = programOf(script);
  return new Promise((resolve) => {
    execFile(program, [...args, option], { timeout: patiently(60_000) }, (error, out, err) =>
      resolve({ code: error === null ? 0 : error.code, out, err }),
    );
  });
};

t.test('every script has help, and refuses an unknown option in one line', async (t) => {
  t.ok(ours.length > 10);
  for (const [name, script] of someOf(ours, 4)) {
    const [help, unknown] = await Promise.all([run(script, '--help'), run(script, '--no-such-option')]);
    t.match(help, { code: 0, out: new RegExp(`^npm run ${name}( |\\n)`), err: /^$/ }, name);
    t.match(unknown, { code: 2, out: /^$/, err: new RegExp(`^npm run ${name}: [^\\n]+\\n$`) }, name);
  }
});

t.test('numbers have bounds', async (t) => {
  const soak = scripts.soak ?? '';
  const { code, err } = await run(soak, '--clients=0');
  t.same(
    [code, err],
    [2, 'npm run soak: --clients takes a whole number from 1 to 1000; --help lists the options\n'],
  );
});
