/** Runs the snippets of the guides against the built gateway on the simulator. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBuiltGateway } from '../../clients/gateway.ts';
import { patiently } from '../../eventually.ts';
import { freePort } from '../../services/child.ts';
import { type Block, pageFiles, readMarkdown, root } from '../markdown.ts';
import { type Guide, guides } from './guides.ts';
import { commandsOf, snippetsOf } from './snippets.ts';

interface Place {
  readonly origin: string;
  readonly adminOrigin: string;
  readonly env: NodeJS.ProcessEnv;
}

const marker = '@@';

/** `npx sluice` is this checkout; curl reports the status of every response. */
const shorthands = `
npx() { shift; node "${join(root, 'bin/sluice.mjs')}" "$@"; }
sluice() { npx sluice "$@"; }
curl() { command curl --no-progress-meter -w '%{stderr}${marker}status %{http_code}\\n' "$@"; }
`;

const adapted = (text: string, { replace = [] }: Guide, { origin, adminOrigin }: Place): string => {
  const own = text
    .replaceAll('http://127.0.0.1:8787', origin)
    .replaceAll('http://127.0.0.1:9787', adminOrigin)
    // The reader's own key.
    .replace(/^export .*…\s*$/gm, '');
  return replace.reduce((all, [placeholder, value]) => all.replace(placeholder, value), own);
};

const collect = (
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<{ readonly code: number | null; readonly output: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      ...options,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: patiently(180_000),
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('latin1').on('data', (text) => {
        output += text;
      });
    child.once('error', reject).once('close', (code) => resolve({ code, output }));
  });

/** All in one shell: later snippets use what earlier ones defined. */
const runShell = async (
  file: string,
  guide: Guide,
  blocks: readonly Block[],
  place: Place,
  folder: string,
): Promise<readonly string[]> => {
  if (blocks.length === 0) return [];
  const parts = blocks.map(
    ({ line, text }) =>
      `${guide.beforeEach ?? ''}\necho "${marker}line ${line}"\n${adapted(commandsOf(text), guide, place)}`,
  );
  const script = [
    'exec 2>&1',
    'set -euo pipefail',
    shorthands,
    guide.before ?? '',
    ...parts,
    `echo "${marker}end"`,
  ];
  writeFileSync(join(folder, 'guide.sh'), script.join('\n'));
  const { code, output } = await collect('bash', ['guide.sh'], { cwd: folder, env: place.env });
  const [before = '', ...printed] = output.split(`${marker}line `);
  const problems = printed.flatMap((part) => {
    const line = Number.parseInt(part, 10);
    const shown = blocks.find((block) => block.line === line)?.text ?? '';
    const statuses = [...part.matchAll(/@@status (\d{3})/g)].map(([, status]) => Number(status));
    const isFailure = /"error"|fail=/.test(shown);
    const bad = statuses.filter((status) => status < 200 || status >= 400);
    return bad.length > 0 && !isFailure
      ? [`${file}:${line}: status ${bad.join(', ')}\n${part.slice(-600)}`]
      : [];
  });
  if (code === 0 && output.includes(`${marker}end`)) return problems;
  return [...problems, `${file}: ended with ${code}\n${(printed.at(-1) ?? before).slice(-1000)}`];
};

const runProgram = async (
  file: string,
  guide: Guide,
  { line, language, text }: Block,
  place: Place,
): Promise<readonly string[]> => {
  // Below the sources, where Node finds packages and the page's own paths lead.
  const folder = mkdtempSync(join(root, '.guide-'));
  try {
    const isPython = language === 'python';
    const name = isPython ? 'guide.py' : 'guide.mts';
    const imports = text.startsWith('import ') ? '' : (guide.imports ?? '');
    writeFileSync(join(folder, name), `${isPython ? '' : imports}${adapted(text, guide, place)}`);
    const [program, args] = isPython
      ? ['python3', [name]]
      : [process.execPath, ['--import', import.meta.resolve('tsx'), name]];
    const { code, output } = await collect(program, args, { cwd: folder, env: place.env });
    return code === 0 ? [] : [`${file}:${line}: ended with ${code}\n${output.slice(-1000)}`];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const isInstalled = (program: string): boolean =>
  spawnSync('bash', ['-c', `command -v ${program}`]).status === 0;

export const runGuides = async (): Promise<{ summary: string; problems: readonly string[] }> => {
  const data = mkdtempSync(join(tmpdir(), 'sluice-guides-'));
  const adminPort = await freePort();
  const adminToken = 'admin-token-of-the-guides-suite';
  const gateway = await startBuiltGateway({
    env: { SLUICE_DATA: data, SLUICE_ADMIN_PORT: String(adminPort), SLUICE_ADMIN_TOKEN: adminToken },
  });
  const url = `${gateway.origin}/v1`;
  const place: Place = {
    origin: gateway.origin,
    adminOrigin: `http://127.0.0.1:${adminPort}`,
    env: {
      PATH: process.env.PATH,
      HOME: data,
      SLUICE_DATA: data,
      SLUICE_URL: url,
      SLUICE_KEY: gateway.key,
      SLUICE_ADMIN_TOKEN: adminToken,
      ADMIN: `http://127.0.0.1:${adminPort}/admin/v1`,
      // As some pages call them.
      ...{ URL: url, BASE: url, B: url, KEY: gateway.key },
    },
  };
  const problems: string[] = [];
  const left: string[] = [];
  let count = 0;
  try {
    for (const file of pageFiles()) {
      const snippets = snippetsOf(readMarkdown(file));
      problems.push(...snippets.problems);
      left.push(...snippets.left);
      const guide = guides[file];
      if (guide === undefined) continue;
      const missing = (guide.needs ?? []).filter((program) => !isInstalled(program));
      if (missing.length > 0) {
        left.push(`${file}: ${missing.join(', ')} not installed`);
        continue;
      }
      const folder = mkdtempSync(join(tmpdir(), 'sluice-guide-'));
      const isShell = ({ language }: Block): boolean => language === 'sh' || language === 'console';
      problems.push(...(await runShell(file, guide, snippets.run.filter(isShell), place, folder)));
      for (const block of snippets.run.filter((one) => !isShell(one)))
        problems.push(...(await runProgram(file, guide, block, place)));
      count += snippets.run.length;
      rmSync(folder, { recursive: true, force: true });
    }
  } finally {
    await gateway.stop();
    rmSync(data, { recursive: true, force: true });
  }
  for (const line of left) console.log(`    not run: ${line}`);
  return { summary: `${count} snippets run, ${left.length} not`, problems };
};
